// Holds parity.txt, which names our test for each of PyTorch's functorch tests, against names.txt and against the tests
// that the built programs list. Knows no behaviour: that a named test checks what it should is a reader's judgement.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
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
  std::string reason;
};

std::map<std::string, Row> table() {
  std::map<std::string, Row> rows;
  for (const std::string& line : lines_of("parity.txt")) {
    std::istringstream words(line);
    std::string name, mark, word;
    words >> name >> mark;
    Row row;
    if (mark == "→")
      while (words >> word) row.tests.push_back(word);
    else if (mark == "—") std::getline(words >> std::ws, row.reason);
    EXPECT_TRUE(rows.emplace(name, row).second) << name << " has two lines";
  }
  return rows;
}

/// What a test program lists, as `Suite.Name`, and for parametrised tests `Suite.Name/parameter` too, without the
/// name of the instantiation.
Names tests_of_program(const std::string& folder) {
  Names names;
  FILE* listing = popen((RICCI_TEST_PROGRAMS "/test_" + folder + " --gtest_list_tests 2>&1").c_str(), "r");
  std::string suite;
  for (char text[4096]; listing && std::fgets(text, sizeof text, listing);) {
    std::string line = text;
    line.erase(line.find_last_not_of(" \n") + 1);
    line.erase(std::min(line.find("  #"), line.size()));
    if (line.empty() || line.find("DISABLED_") != std::string::npos) continue;
    if (line[0] != ' ') {
      suite = line.substr(line.find('/') == std::string::npos ? 0 : line.find('/') + 1);
      continue;
    }
    const std::string test = suite + line.substr(2);
    names.insert(test);
    names.insert(test.substr(0, test.find('/')));
  }
  if (listing) pclose(listing);
  return names;
}

/// `compile_fail.name` is a file of that folder.
bool is_refusal(const std::string& name) {
  return std::ifstream(RICCI_PARITY_TABLES "/../compile_fail/" + name + ".cpp").good();
}

/// Whether the test `folder.Suite.Name` exists and is run.
bool exists(const std::string& test) {
  static std::map<std::string, Names> programs;
  const std::size_t dot = test.find('.');
  if (dot == std::string::npos) return false;
  const std::string folder = test.substr(0, dot), name = test.substr(dot + 1);
  if (folder == "compile_fail") return is_refusal(name);
  if (!programs.contains(folder)) programs[folder] = tests_of_program(folder);
  return programs[folder].contains(name);
}

TEST(Parity, EveryNameHasALine) {
  const std::map<std::string, Row> rows = table();
  const std::vector<std::string> names = upstream_names();
  ASSERT_GT(names.size(), 500U);
  for (const std::string& name : names) EXPECT_TRUE(rows.contains(name)) << name << " has no line in parity.txt";
  const Names known(names.begin(), names.end());
  for (const auto& [name, row] : rows) EXPECT_TRUE(known.contains(name)) << name << " is not in names.txt";
}

TEST(Parity, EveryLineNamesATestOrGivesAReason) {
  for (const auto& [name, row] : table()) EXPECT_NE(row.tests.empty(), row.reason.empty()) << name;
}

TEST(Parity, EveryNamedTestExists) {
  for (const auto& [name, row] : table())
    for (const std::string& test : row.tests) EXPECT_TRUE(exists(test)) << name << " names " << test;
}

/// The number of names that carry over; raise it with the table.
TEST(Parity, MostNamesAreCovered) {
  std::size_t covered = 0;
  for (const auto& [name, row] : table()) covered += !row.tests.empty();
  EXPECT_GE(covered, 478U);
}

}  // namespace
