"""A pose graph, as examples/pose_graph.cpp: a robot drives three times around a rising helix and measures, with noise, how
it moves from each place to the next, and how places of one round stand to those of the next. Prints the mean distance of
the poses from the truth and fails unless the fit is better than the chain of motions, and Cauchy's loss better than
squares where places were mistaken for others.
"""

import math
import sys

import ricci as rc
from ricci import solvers
from ricci.solvers import SE3, SO3

POSES, IN_ROUND = 30, 10


def at(poses, places):
    return SE3(SO3(poses.rotation.quaternion[places]), poses.translation[places])


def helix():
    angle = rc.arange(POSES, dtype=rc.float64) * (2 * math.pi / IN_ROUND)
    none = rc.zeros_like(angle)
    turns = SO3.exp(rc.stack([none, none, angle], 1))
    return SE3(turns, rc.stack([5 * angle.cos(), 5 * angle.sin(), 0.2 * angle], 1))


def measured(truth, mistakes):
    """From where, to where, and the motions; so many places are taken for others."""
    edges = [(i, i + 1, i + 1) for i in range(POSES - 1)]
    for i in range(0, POSES - IN_ROUND, 2):
        is_mistaken = i % 6 == 0 and i < 6 * mistakes
        edges.append((i, i + IN_ROUND, i + IN_ROUND // 2 if is_mistaken else i + IN_ROUND))
    start, end, seen = (rc.tensor(list(places)) for places in zip(*edges, strict=True))
    noise = 0.03 * rc.Key(1).normal((len(edges), 6), dtype=rc.float64)
    return start, end, (at(truth, start).inverse() * at(truth, seen)).retract(noise)


def chained(motions, first):
    def step(pose, motion):
        return pose * motion, pose * motion

    rest = rc.scan(step, first, at(motions, rc.arange(POSES - 1)))[1]
    quaternions = rc.cat([first.rotation.quaternion.unsqueeze(0), rest.rotation.quaternion])
    return SE3(SO3(quaternions), rc.cat([first.translation.unsqueeze(0), rest.translation]))


def fitting(start, loss=None):
    """A function of a graph, compiled once: the poses that fit all of its measurements best."""

    def moved(change):  # the first pose is given
        return start.retract(rc.cat([rc.zeros((1, 6), dtype=rc.float64), change]))

    @rc.compile
    def best_change(graph):
        begin, end, motions = graph

        def errors(change):
            poses = moved(change)
            return (motions.inverse() * (at(poses, begin).inverse() * at(poses, end))).log()

        return solvers.least_squares(errors, rc.zeros((POSES - 1, 6), dtype=rc.float64), loss=loss).value

    return lambda graph: moved(best_change(graph))


def distance(name, poses, truth):
    mean = (poses.translation - truth.translation).square().sum(1).sqrt().mean().item()
    print(f"{name:36} {mean:.3f} m")
    return mean


def main():
    truth = helix()
    first = SE3(SO3(truth.rotation.quaternion[0]), truth.translation[0])
    graph, mistaken = measured(truth, 0), measured(truth, 3)
    start = chained(graph[2], first)
    chain = distance("the chain of motions", start, truth)
    by_squares, by_cauchy = fitting(start), fitting(start, solvers.cauchy(0.05))
    squares = distance("least squares", by_squares(graph), truth)
    misled = distance("least squares, with mistakes", by_squares(mistaken), truth)
    robust = distance("Cauchy's loss, with mistakes", by_cauchy(mistaken), truth)
    return 0 if squares < chain / 2 and robust < chain / 2 and misled > 2 * robust else 1


if __name__ == "__main__":
    sys.exit(main())
