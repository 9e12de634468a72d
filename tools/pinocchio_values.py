#!/usr/bin/env python3
"""What Pinocchio (`pin` on PyPI) gives for a robot on a fixed base, for examples/robot_dynamics.cpp.

    tools/pinocchio_values.py data/robots/arm.urdf > data/robots/arm_values.json

Values at one state with all digits, as JSON. bench/peers/robots.py times Pinocchio and others.
"""
import json
import sys

try:
    import numpy as np
    import pinocchio as pin
except ImportError:
    print("[SKIP] needs pin")
    sys.exit(0)

model = pin.buildModelFromUrdf(sys.argv[1])
if model.nq != model.nv:  # a joint without limits has a cosine and a sine for q
    sys.exit(f"{sys.argv[1]}: joints of the type continuous are not compared; call them revolute")
data, rng = model.createData(), np.random.default_rng(31337)
q, v, torques = (rng.uniform(-1, 1, model.nv) for _ in range(3))
a = pin.aba(model, data, q, v, torques).copy()
by_q, by_v, by_torques = (np.array(x) for x in pin.computeABADerivatives(model, data, q, v, torques))
mass = np.array(pin.crba(model, data, q))
mass = np.triu(mass) + np.triu(mass, 1).T
values = {
    "joints": list(model.names)[1:], "q": q, "v": v, "torques": torques,
    "inverse_dynamics": pin.rnea(model, data, q, v, torques), "mass_matrix": mass, "forward_dynamics": a,
    "by_q": by_q, "by_v": by_v, "by_torques": np.triu(by_torques) + np.triu(by_torques, 1).T,
}
print(json.dumps({name: np.asarray(x).tolist() for name, x in values.items()}))
