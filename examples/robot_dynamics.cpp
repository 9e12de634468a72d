// Rigid-body dynamics of a robot on a fixed base, read from a URDF file: inverse dynamics, mass matrix and forward
// dynamics as plain functions over structs of links, and their derivatives by jacfwd; held against Pinocchio's values,
// then timed, compiled, for one state and by vmap for many. `--urdf FILE --values FILE` takes another robot and what
// Pinocchio gives for it (tools/pinocchio_values.py); `--export FOLDER` writes the derivatives as an object for C.
#include <ricci/ricci.h>
#include <tinyxml2.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "support/command_line.h"

namespace rc = ricci;
using rc::Tensor;

namespace {

/// A body and the joint that carries it. Vectors are in the frame of the joint, which moves with the body.
struct Link {
  std::string joint;
  int parent = -1;                   // among the links; -1: the ground
  bool slides = false;               // along the axis; else it turns about it
  Tensor place;                      // [3]: the joint in the parent's frame
  Tensor still, by_sine, by_cosine;  // [3, 3]: the joint's frame is turned by still + sin(q) by_sine + cos(q) by_cosine
  Tensor axis;                       // [3]
  Tensor mass, centre, inertia;      // [], [3], [3, 3] about the centre
};
using Robot = std::vector<Link>;  // parents first

// What moves. A frame's gravity is an acceleration of its ground.
struct Motion {
  Tensor spin, spin_rate, acceleration;  // [3] each
};
struct Load {
  Tensor force, moment;  // [3] each: what the joint must bear
};

const Tensor gravity = rc::tensor(std::vector<double>{0, 0, -9.81});

/// The torques [n] that move the joints at q with speeds v and accelerations a (Newton and Euler's recursion: motions
/// from the ground to the tips, loads back).
Tensor inverse_dynamics(const Robot& robot, const Tensor& q, const Tensor& v, const Tensor& a) {
  const Tensor sine = sin(q), cosine = cos(q), none = rc::zeros({3}, rc::float64);
  std::vector<Tensor> turns, places;
  std::vector<Motion> motions;
  std::vector<Load> loads;
  for (std::size_t i = 0; i < robot.size(); ++i) {
    const Link& link = robot[i];
    const auto at = static_cast<std::int64_t>(i);
    const Motion before =
        link.parent < 0 ? Motion{none, none, -gravity} : motions[static_cast<std::size_t>(link.parent)];
    const Tensor turn =
        link.slides ? link.still + link.by_cosine : link.still + sine[at] * link.by_sine + cosine[at] * link.by_cosine;
    const Tensor place = link.slides ? link.place + q[at] * matmul(turn, link.axis) : link.place;
    const Tensor carried =
        before.acceleration + cross(before.spin_rate, place) + cross(before.spin, cross(before.spin, place));
    Motion now{matmul(before.spin, turn), matmul(before.spin_rate, turn), matmul(carried, turn)};
    const Tensor rate = link.axis * v[at], gain = link.axis * a[at];
    if (link.slides) {
      now.acceleration = now.acceleration + gain + 2 * cross(now.spin, rate);
    } else {
      now.spin_rate = now.spin_rate + gain + cross(now.spin, rate);
      now.spin = now.spin + rate;
    }
    const Tensor of_centre =
        now.acceleration + cross(now.spin_rate, link.centre) + cross(now.spin, cross(now.spin, link.centre));
    const Tensor force = link.mass * of_centre;
    const Tensor moment = matmul(link.inertia, now.spin_rate) + cross(now.spin, matmul(link.inertia, now.spin)) +
                          cross(link.centre, force);
    turns.push_back(turn), places.push_back(place), motions.push_back(now), loads.push_back({force, moment});
  }
  std::vector<Tensor> torques(robot.size());
  for (std::size_t i = robot.size(); i-- > 0;) {
    const Link& link = robot[i];
    torques[i] = dot(link.axis, link.slides ? loads[i].force : loads[i].moment);
    if (link.parent < 0) continue;
    Load& parent = loads[static_cast<std::size_t>(link.parent)];
    const Tensor force = matmul(turns[i], loads[i].force);
    parent = {parent.force + force, parent.moment + matmul(turns[i], loads[i].moment) + cross(places[i], force)};
  }
  return rc::stack(torques);
}

/// Torque for acceleration [n, n]: inverse dynamics is affine in the accelerations.
Tensor mass_matrix(const Robot& robot, const Tensor& q) {
  const Tensor none = zeros_like(q);
  return rc::jacfwd([&](const Tensor& a) { return inverse_dynamics(robot, q, none, a); })(none);
}

/// x with M x = b for a positive definite M.
Tensor solve_positive(const Tensor& matrix, const Tensor& b) {
  return rc::cholesky_solve(b.unsqueeze(1), rc::cholesky(matrix)).squeeze(1);
}

/// The accelerations [n] that torques cause.
Tensor forward_dynamics(const Robot& robot, const Tensor& q, const Tensor& v, const Tensor& torques) {
  return solve_positive(mass_matrix(robot, q), torques - inverse_dynamics(robot, q, v, zeros_like(q)));
}

/// The derivatives of forward dynamics by q, v and torques [n, n] each, by the implicit function theorem: accelerations
/// are the root of inverse dynamics, so they are the derivatives of inverse dynamics there, solved.
std::array<Tensor, 3> implicit_derivatives(const Robot& robot, const Tensor& q, const Tensor& v,
                                           const Tensor& torques) {
  const Tensor lower = rc::cholesky(mass_matrix(robot, q));
  const auto solved = [&](const Tensor& b) { return rc::cholesky_solve(b, lower); };
  const Tensor a = solved((torques - inverse_dynamics(robot, q, v, zeros_like(q))).unsqueeze(1)).squeeze(1);
  const auto of_state = [&](const Tensor& q, const Tensor& v) { return inverse_dynamics(robot, q, v, a); };
  const auto [by_q, by_v] = rc::jacfwd<0, 1>(of_state)(q, v);
  return {solved(-by_q), solved(-by_v), solved(rc::eye(q.size(0), rc::float64))};
}

// What follows reads robots, and checks and times.

std::vector<double> numbers_of(const char* text, std::vector<double> otherwise) {
  if (!text) return otherwise;
  std::istringstream in(text);
  return {std::istream_iterator<double>(in), {}};
}

Tensor vector_of(const tinyxml2::XMLElement* element, const char* name, const std::vector<double>& otherwise) {
  return rc::tensor(numbers_of(element ? element->Attribute(name) : nullptr, otherwise));
}

Tensor matrix(const std::array<double, 9>& m) {
  return rc::tensor(std::vector<double>(m.begin(), m.end())).view({3, 3});
}

/// URDF's roll, pitch and yaw: about the fixed x, then y, then z.
Tensor turn_of(const tinyxml2::XMLElement* origin) {
  const std::vector<double> angles = numbers_of(origin ? origin->Attribute("rpy") : nullptr, {0, 0, 0});
  const double sr = std::sin(angles[0]), sp = std::sin(angles[1]), sy = std::sin(angles[2]);
  const double cr = std::cos(angles[0]), cp = std::cos(angles[1]), cy = std::cos(angles[2]);
  return matrix({cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr,  //
                 sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr,  //
                 -sp, cp * sr, cp * cr});
}

struct Body {
  Tensor mass, centre, inertia;
};

Body body_of(const tinyxml2::XMLElement* link) {
  const tinyxml2::XMLElement* inertial = link->FirstChildElement("inertial");
  if (!inertial) return {rc::zeros({}, rc::float64), rc::zeros({3}, rc::float64), rc::zeros({3, 3}, rc::float64)};
  const tinyxml2::XMLElement *origin = inertial->FirstChildElement("origin"),
                             *of = inertial->FirstChildElement("inertia");
  const auto entry = [&](const char* name) { return of->DoubleAttribute(name); };
  const double xy = entry("ixy"), xz = entry("ixz"), yz = entry("iyz");
  const Tensor turn = turn_of(origin);
  const Tensor own = matrix({entry("ixx"), xy, xz, xy, entry("iyy"), yz, xz, yz, entry("izz")});
  return {rc::tensor(inertial->FirstChildElement("mass")->DoubleAttribute("value"), rc::float64),
          vector_of(origin, "xyz", {0, 0, 0}), matmul(matmul(turn, own), turn.t())};
}

/// The inertia of a body about a point that lies at r from its centre, less that about the centre.
Tensor of_distance(const Tensor& mass, const Tensor& r) {
  return mass * (dot(r, r) * rc::eye(3, rc::float64) - outer(r, r));
}

/// Two bodies that are fixed to each other.
Body together(const Body& a, const Body& b) {
  const Tensor mass = a.mass + b.mass;
  if (mass.item<double>() == 0) return a;
  const Tensor centre = (a.mass * a.centre + b.mass * b.centre) / mass;
  return {mass, centre,
          a.inertia + b.inertia + of_distance(a.mass, a.centre - centre) + of_distance(b.mass, b.centre - centre)};
}

class Reader {
 public:
  explicit Reader(const std::string& path) {
    if (file_.LoadFile(path.c_str()) != tinyxml2::XML_SUCCESS) throw std::runtime_error(path + ": " + file_.ErrorStr());
    const tinyxml2::XMLElement* robot = file_.FirstChildElement("robot");
    if (!robot) throw std::runtime_error(path + " describes no robot");
    for (auto* link = robot->FirstChildElement("link"); link; link = link->NextSiblingElement("link"))
      bodies_[link->Attribute("name")] = body_of(link);
    for (auto* joint = robot->FirstChildElement("joint"); joint; joint = joint->NextSiblingElement("joint")) {
      const std::string child = joint->FirstChildElement("child")->Attribute("link");
      joints_[joint->FirstChildElement("parent")->Attribute("link")].emplace(joint->Attribute("name"), joint);
      children_.push_back(child);
    }
  }

  Robot read() {
    for (const auto& [name, body] : bodies_)
      if (std::find(children_.begin(), children_.end(), name) == children_.end())
        add_children(name, -1, rc::eye(3, rc::float64), rc::zeros({3}, rc::float64));
    return robot_;
  }

 private:
  /// Adds what the joints of a URDF link carry, in the order of their names. The link is fixed to a link of the robot,
  /// at this place in its frame.
  void add_children(const std::string& link, int parent, const Tensor& turn, const Tensor& place) {
    for (const auto& [name, joint] : joints_[link]) {
      const tinyxml2::XMLElement* origin = joint->FirstChildElement("origin");
      const std::string child = joint->FirstChildElement("child")->Attribute("link"), kind = joint->Attribute("type");
      const Tensor child_place = place + matmul(turn, vector_of(origin, "xyz", {0, 0, 0}));
      const Tensor child_turn = matmul(turn, turn_of(origin));
      const Body& body = bodies_.at(child);
      if (kind == "fixed") {
        if (parent >= 0) fix(robot_[static_cast<std::size_t>(parent)], body, child_turn, child_place);
        add_children(child, parent, child_turn, child_place);
        continue;
      }
      if (kind != "revolute" && kind != "continuous" && kind != "prismatic")
        throw std::runtime_error(name + ": joints of the type " + kind + " are not read");
      const Tensor axis = vector_of(joint->FirstChildElement("axis"), "xyz", {1, 0, 0});
      robot_.push_back(link_of(name, parent, kind == "prismatic", child_turn, child_place, axis / norm(axis), body));
      const int own = static_cast<int>(robot_.size()) - 1;
      add_children(child, own, rc::eye(3, rc::float64), rc::zeros({3}, rc::float64));
    }
  }

  /// Rodrigues' formula: about the axis x, R = x x' + sin(q) [x] + cos(q) (I - x x').
  static Link link_of(const std::string& joint, int parent, bool slides, const Tensor& turn, const Tensor& place,
                      const Tensor& axis, const Body& body) {
    const Tensor along = outer(axis, axis), eye = rc::eye(3, rc::float64);
    const Tensor across = rc::stack({cross(axis, eye[0]), cross(axis, eye[1]), cross(axis, eye[2])}, 1);
    return {joint,
            parent,
            slides,
            place,
            matmul(turn, along),
            matmul(turn, across),
            matmul(turn, eye - along),
            axis,
            body.mass,
            body.centre,
            body.inertia};
  }

  static void fix(Link& link, const Body& body, const Tensor& turn, const Tensor& place) {
    const Body moved{body.mass, place + matmul(turn, body.centre), matmul(matmul(turn, body.inertia), turn.t())};
    const Body whole = together({link.mass, link.centre, link.inertia}, moved);
    link.mass = whole.mass, link.centre = whole.centre, link.inertia = whole.inertia;
  }

  tinyxml2::XMLDocument file_;
  std::map<std::string, Body> bodies_;
  std::map<std::string, std::map<std::string, const tinyxml2::XMLElement*>> joints_;  // by the link that carries them
  std::vector<std::string> children_;
  Robot robot_;
};

Tensor read_tensor(const nlohmann::json& rows) {
  if (!rows.front().is_array()) return rc::tensor(rows.get<std::vector<double>>());
  std::vector<Tensor> all;
  for (const auto& row : rows) all.push_back(rc::tensor(row.get<std::vector<double>>()));
  return rc::stack(all);
}

/// Pinocchio's values are kept with all their digits; both sides round.
bool agrees(const char* what, const Tensor& found, const nlohmann::json& expected) {
  const Tensor reference = read_tensor(expected);
  const double error = ((found - reference).abs().max() / reference.abs().max()).item<double>();
  std::printf("  %-24s differs from Pinocchio's by %.1e of the greatest value\n", what, error);
  return error < 1e-9;
}

/// The least time of a call, in microseconds. Two calls go first: the second may make code for the sizes at hand.
template <class Call>
double microseconds(const Call& call) {
  using Clock = std::chrono::steady_clock;
  const auto timed = [&](int together) {
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < together; ++i) call();
    return 1e6 * std::chrono::duration<double>(Clock::now() - start).count();
  };
  call(), call();
  double least = timed(1), spent = 0;
  while (spent < 3e5) {
    const int together = std::clamp(static_cast<int>(20 / least), 1, 100);
    const double took = timed(together);
    spent += took, least = std::min(least, took / together);
  }
  return least;
}

/// A row of the table: the first call, then the least time of one state, and of each of 16, 256 and 4,096 by vmap.
template <class F, class... Inputs>
void time_function(const char* name, const F& f, const Inputs&... inputs) {
  using Clock = std::chrono::steady_clock;
  const auto fast = rc::compile(f);
  const Clock::time_point start = Clock::now();
  fast(inputs...);
  const double first = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  std::printf("| %-20s | %9.0f | %7.2f |", name, first, microseconds([&] { fast(inputs...); }));
  const auto many = rc::compile(rc::vmap(f));
  for (const std::int64_t count : {16, 256, 4096}) {
    const auto repeat = [&](const Tensor& x) { return x.expand({count, x.size(0)}).clone(); };
    const auto call = [&, arguments = std::tuple{repeat(inputs)...}] { std::apply(many, arguments); };
    std::printf(" %7.3f |", microseconds(call) / static_cast<double>(count));
    std::fflush(stdout);
  }
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) try {
  std::string urdf = RICCI_DATA_DIR "/robots/arm.urdf", values = RICCI_DATA_DIR "/robots/arm_values.json", folder;
  bool quick = false;
  CommandLine line("Rigid-body dynamics of a robot and its derivatives");
  line.option("--urdf", urdf, "the robot");
  line.option("--values", values, "what Pinocchio gives for it");
  line.option("--export", folder, "writes the derivatives of forward dynamics there, as an object for C");
  line.flag("--quick", quick, "short");
  if (const auto code = line.read(argc, argv)) return *code;

  const Robot robot = Reader(urdf).read();
  const auto expected = nlohmann::json::parse(std::ifstream(values));
  const Tensor q = read_tensor(expected["q"]), v = read_tensor(expected["v"]), tau = read_tensor(expected["torques"]);
  std::printf("%s: %zu joints\n", urdf.c_str(), robot.size());
  const auto names = expected["joints"].get<std::vector<std::string>>();
  if (!std::ranges::equal(names, robot, {}, {}, &Link::joint))
    throw std::runtime_error(values + " is of another robot");

  const auto inverse = [&](const Tensor& q, const Tensor& v, const Tensor& a) {
    return inverse_dynamics(robot, q, v, a);
  };
  const auto mass = [&](const Tensor& q) { return mass_matrix(robot, q); };
  const auto forward = [&](const Tensor& q, const Tensor& v, const Tensor& tau) {
    return forward_dynamics(robot, q, v, tau);
  };
  const auto derivatives = rc::jacfwd<0, 1, 2>(forward);
  const auto [by_q, by_v, by_torques] = derivatives(q, v, tau);
  const auto implicit = [&](const Tensor& q, const Tensor& v, const Tensor& tau) {
    return implicit_derivatives(robot, q, v, tau);
  };
  bool right = agrees("inverse dynamics", inverse(q, v, tau), expected["inverse_dynamics"]);
  right &= agrees("mass matrix", mass(q), expected["mass_matrix"]);
  right &= agrees("forward dynamics", forward(q, v, tau), expected["forward_dynamics"]);
  right &= agrees("derivative by q", by_q, expected["by_q"]);
  right &= agrees("derivative by v", by_v, expected["by_v"]);
  right &= agrees("by torques", by_torques, expected["by_torques"]);

  right &= agrees("the same, implicitly", std::get<0>(implicit(q, v, tau)), expected["by_q"]);
  right &= agrees("by v, compiled", std::get<1>(rc::compile(implicit)(q, v, tau)), expected["by_v"]);

  if (!folder.empty()) rc::export_object(rc::compile(implicit), folder + "/robot_derivatives", q, v, tau);
  if (quick) return right ? 0 : 1;
  std::printf(
      "\n| compiled             | first call, ms | one, us | each of 16 | each of 256 | each of 4,096 |\n"
      "|---|---|---|---|---|---|\n");
  time_function("inverse dynamics", inverse, q, v, tau);
  time_function("mass matrix", mass, q);
  time_function("forward dynamics", forward, q, v, tau);
  time_function("derivatives, jacfwd", derivatives, q, v, tau);
  time_function("derivatives, solved", implicit, q, v, tau);
  return right ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "robot_dynamics: %s\n", error.what());
  return 1;
}
