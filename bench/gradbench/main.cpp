// A tool for GradBench: answers the messages on standard input, a JSON object a line, on standard output. README.md
// says how to run it. Knows nothing of what the evals compute.
#include <exception>
#include <iostream>
#include <string>

#include "evals.h"

namespace {

using gradbench::json;

const std::map<std::string, gradbench::Eval>& evals() {
  using namespace gradbench;
  static const std::map<std::string, Eval> all{{"hello", hello()}, {"gmm", gmm()},           {"ba", ba()},
                                               {"ht", ht()},       {"lstm", lstm()},         {"kmeans", kmeans()},
                                               {"llsq", llsq()},   {"lse", lse()},           {"ode", ode()},
                                               {"det", det()},     {"particle", particle()}, {"saddle", saddle()}};
  return all;
}

json evaluate(const json& message) {
  const auto& functions = evals().at(message.at("module").get<std::string>());
  gradbench::Answer found = functions.at(message.at("function").get<std::string>())(message.at("input"));
  json timings = json::array();
  for (const gradbench::Timing& one : found.timings)
    timings.push_back({{"name", one.name}, {"nanoseconds", one.nanoseconds}});
  return {{"success", true}, {"output", std::move(found.output)}, {"timings", std::move(timings)}};
}

json respond(const json& message) {
  const std::string kind = message.at("kind");
  if (kind == "start") return {{"tool", "ricci"}};
  if (kind == "define") return {{"success", evals().contains(message.at("module").get<std::string>())}};
  if (kind != "evaluate") return json::object();
  try {
    return evaluate(message);
  } catch (const std::exception& error) { return {{"success", false}, {"error", error.what()}}; }
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const json message = json::parse(line);
    json response = respond(message);
    response["id"] = message.at("id");
    std::cout << response.dump() << std::endl;
  }
}
