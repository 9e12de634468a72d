// The command line of an example. CLI11 reads it; CLI11 takes longer to compile than the examples do, so one file alone
// includes it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

namespace CLI {
class App;
}

/// What an option can be.
template <class T>
concept OptionValue = std::is_same_v<T, std::string> || std::is_same_v<T, double> || std::is_same_v<T, std::int64_t> ||
                      std::is_same_v<T, std::uint64_t>;

/// `CommandLine line("Trains a network."); line.option("--rate", rate, "learning rate");
/// if (const auto code = line.read(argc, argv)) return *code;`
class CommandLine {
 public:
  /// With `--help`, which prints `purpose` and the meaning of each option, and `--version`.
  explicit CommandLine(const std::string& purpose);
  ~CommandLine();

  /// `name VALUE` writes to `value`; the help shows the value before. `check` gives the text of an error, or none.
  template <OptionValue T>
  void option(const std::string& name, T& value, const std::string& meaning,
              const std::function<std::string(const std::type_identity_t<T>&)>& check = {});
  /// `name` alone sets `is_set`.
  void flag(const std::string& name, bool& is_set, const std::string& meaning);

  /// The code to exit with, where the program ends here: after `--help`, `--version`, or an error that was printed.
  std::optional<int> read(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
};
