// Holds parity.txt, which names our test for each of PyTorch's functorch tests and says what it checks, against
// names.txt, and sees to it that the tests that it names run: each must pass, and not by being skipped. Knows no
// behaviour: that a named test checks the statement beside it is a reader's judgement.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Names = std::set<std::string>;

std::vector<std::string> lines_of(const std::string& file) {
  std::ifstream in(RICCI_PARITY_TABLES "/" + file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);)
    if (!line.empty() && line[0] != '#') lines.push_back(line);
  return lines;
}

/// `file/Class/name` for every name below a line `[file Class]`.
std::vector<std::string> upstream_names() {
  std::vector<std::string> names;
  std::string place;
  for (const std::string& line : lines_of("names.txt")) {
    if (line[0] != '[') {
      names.push_back(place + "/" + line);
      continue;
    }
    place = line.substr(1, line.size() - 2);
    place.replace(place.find(' '), 1, "/");
  }
  return names;
}

struct Row {
  std::vector<std::string> tests;  // none: the behaviour does not carry over
  std::string sentence;            // what the tests check; without tests, why the behaviour does not carry over
};

std::map<std::string, Row> table() {
  std::map<std::string, Row> rows;
  for (const std::string& line : lines_of("parity.txt")) {
    std::istringstream words(line);
    std::string name, mark, word;
    words >> name >> mark;
    Row row;
    if (mark == "→")
      while (words >> word && word != "—") row.tests.push_back(word);
    std::getline(words >> std::ws, row.sentence);
    EXPECT_TRUE(mark == "→" || mark == "—") << name << " has neither tests nor a reason";
    EXPECT_TRUE(rows.emplace(name, row).second) << name << " has two lines";
  }
  return rows;
}

enum class Outcome : std::uint8_t { passed, skipped, failed };
/// By `Suite.Name` or `Suite.Name/parameter`, without the name of the instantiation.
using Outcomes = std::map<std::string, Outcome>;

/// What runs the tests of these names, with every parameter where none is named.
std::string filter_of(const Names& names) {
  std::string filter;
  for (const std::string& name : names)
    for (const char* const around : {"", "*/"})
      for (const char* const behind : {"", "/*"}) filter += (filter.empty() ? "" : ":") + (around + name) + behind;
  return filter;
}

/// Runs them, as a user would: what is skipped or disabled has checked nothing.
Outcomes run_tests(const std::string& folder, const Names& names) {
  Outcomes outcomes;
  const std::string program = RICCI_TEST_PROGRAMS "/test_" + folder;
  FILE* output = popen((program + " --gtest_color=no '--gtest_filter=" + filter_of(names) + "' 2>&1").c_str(), "r");
  const std::map<std::string, Outcome> marks{
      {"[       OK ] ", Outcome::passed}, {"[  SKIPPED ] ", Outcome::skipped}, {"[  FAILED  ] ", Outcome::failed}};
  for (char text[4096]; output && std::fgets(text, sizeof text, output);) {
    const std::string line = text;
    const auto mark = marks.find(line.substr(0, 13));
    if (mark == marks.end() || line.find(" ms)") == std::string::npos) continue;
    std::string test = line.substr(13, line.find_first_of(", ", 13) - 13);
    if (test.find('/') < test.find('.')) test.erase(0, test.find('/') + 1);
    outcomes[test] = mark->second;
  }
  if (output) pclose(output);
  return outcomes;
}

/// Whether what a test of this folder says may be that it was skipped.
bool may_skip(const std::string& folder) {
  bool has_tests = false;
  for (const auto& file : std::filesystem::directory_iterator(RICCI_PARITY_TABLES "/../" + folder)) {
    std::ifstream in(file.path());
    std::ostringstream text;
    text << in.rdbuf();
    if (text.str().find("GTEST_SKIP") != std::string::npos) return true;
    has_tests |= text.str().find("TEST") != std::string::npos;
  }
  return !has_tests;
}

/// Those that there are. What is disabled has another name.
Outcomes tests_there(const std::string& folder, const Names& names) {
  Outcomes there;
  std::string suite;
  const std::string program = RICCI_TEST_PROGRAMS "/test_" + folder;
  FILE* output = popen((program + " --gtest_list_tests '--gtest_filter=" + filter_of(names) + "'").c_str(), "r");
  for (char text[4096]; output && std::fgets(text, sizeof text, output);) {
    const std::string line = text;
    if (line.starts_with("  ")) there[suite + line.substr(2, line.find_first_of(" \n", 2) - 2)] = Outcome::passed;
    else suite = line.substr(line.find('/') + 1, line.find('.') - line.find('/'));
  }
  if (output) pclose(output);
  return there;
}

/// Of each name the tests for eight parameters: ctest runs those for all.
Names of_few_parameters(const Outcomes& there, const Names& names) {
  Names some;
  for (const std::string& name : names) {
    std::vector<std::string> all;
    for (auto test = there.lower_bound(name); test != there.end() && test->first.starts_with(name); ++test)
      if (test->first == name || test->first[name.size()] == '/') all.push_back(test->first);
    for (std::size_t i = 0; i < all.size(); i += std::max<std::size_t>(1, all.size() / 8)) some.insert(all[i]);
  }
  return some;
}

/// The named tests of each folder's program.
std::map<std::string, Names> named_tests() {
  std::map<std::string, Names> named;
  for (const auto& [name, row] : table())
    for (const std::string& test : row.tests) {
      const std::size_t dot = test.find('.');
      named[test.substr(0, dot)].insert(dot == std::string::npos ? test : test.substr(dot + 1));
    }
  return named;
}

/// `compile_fail.name` is a file of that folder.
bool is_refusal(const std::string& name) {
  return std::ifstream(RICCI_PARITY_TABLES "/../compile_fail/" + name + ".cpp").good();
}

TEST(Parity, EveryNameHasALine) {
  const std::map<std::string, Row> rows = table();
  const std::vector<std::string> names = upstream_names();
  ASSERT_GT(names.size(), 500U);
  for (const std::string& name : names) EXPECT_TRUE(rows.contains(name)) << name << " has no line in parity.txt";
  const Names known(names.begin(), names.end());
  for (const auto& [name, row] : rows) EXPECT_TRUE(known.contains(name)) << name << " is not in names.txt";
}

TEST(Parity, EveryLineSaysWhatItsTestsCheckOrGivesAReason) {
  for (const auto& [name, row] : table()) {
    EXPECT_FALSE(row.sentence.empty()) << name << " lacks a sentence: `name → tests — what they check`";
    EXPECT_NE(row.sentence.find(' '), std::string::npos) << name << ": `" << row.sentence << "` is no sentence";
  }
}

class NamedTests : public testing::TestWithParam<std::string> {};

/// A test for every parameter has passed for one at least, and is skipped only where a law finds nothing to try. Where
/// no test can be skipped it is enough that they exist: ctest runs all tests of a folder.
TEST_P(NamedTests, RunAndPass) {
  const Names names = named_tests()[GetParam()];
  Outcomes outcomes = tests_there(GetParam(), names);
  if (may_skip(GetParam())) outcomes = run_tests(GetParam(), of_few_parameters(outcomes, names));
  for (const std::string& name : names) {
    std::size_t passed = 0;
    for (auto test = outcomes.lower_bound(name); test != outcomes.end() && test->first.starts_with(name); ++test) {
      if (test->first != name && test->first[name.size()] != '/') continue;
      passed += test->second == Outcome::passed;
      EXPECT_NE(test->second, Outcome::failed) << test->first;
    }
    EXPECT_GT(passed, 0U) << GetParam() << "." << name << " does not exist, or is skipped or disabled";
  }
}

std::vector<std::string> folders_with_programs() {
  std::vector<std::string> folders;
  for (const auto& [folder, names] : named_tests())
    if (folder != "compile_fail") folders.push_back(folder);
  return folders;
}

INSTANTIATE_TEST_SUITE_P(, NamedTests, testing::ValuesIn(folders_with_programs()),
                         [](const testing::TestParamInfo<std::string>& folder) { return folder.param; });

TEST(Parity, EveryRefusalOfTheCompilerExists) {
  const Names refusals = named_tests()["compile_fail"];
  for (const std::string& name : refusals) EXPECT_TRUE(is_refusal(name)) << name;
}

/// The number of names that carry over; raise it with the table.
TEST(Parity, MostNamesAreCovered) {
  std::size_t covered = 0;
  for (const auto& [name, row] : table()) covered += !row.tests.empty();
  EXPECT_GE(covered, 640U);
}

}  // namespace
