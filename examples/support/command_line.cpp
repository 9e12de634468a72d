// The part of command_line.h that knows CLI11.
#include "command_line.h"

#include <ricci/build_info.h>

#include <CLI/CLI.hpp>

CommandLine::CommandLine(const std::string& purpose) : app_(std::make_unique<CLI::App>(purpose)) {
  app_->set_version_flag("--version", [] { return to_string(ricci::build_info()); });
}
CommandLine::~CommandLine() = default;

template <OptionValue T>
void CommandLine::option(const std::string& name, T& value, const std::string& meaning,
                         const std::function<std::string(const std::type_identity_t<T>&)>& check) {
  app_->add_option_function<T>(
          name,
          [&value, name, check](const T& read) {
            if (const std::string error = check ? check(read) : ""; !error.empty())
              throw CLI::ValidationError(name, error);
            value = read;
          },
          meaning)
      ->default_str(CLI::detail::to_string(value));
}
template void CommandLine::option(const std::string&, std::string&, const std::string&,
                                  const std::function<std::string(const std::string&)>&);
template void CommandLine::option(const std::string&, double&, const std::string&,
                                  const std::function<std::string(const double&)>&);
template void CommandLine::option(const std::string&, std::int64_t&, const std::string&,
                                  const std::function<std::string(const std::int64_t&)>&);
template void CommandLine::option(const std::string&, std::uint64_t&, const std::string&,
                                  const std::function<std::string(const std::uint64_t&)>&);

void CommandLine::flag(const std::string& name, bool& is_set, const std::string& meaning) {
  app_->add_flag(name, is_set, meaning);
}

std::optional<int> CommandLine::read(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& end) { return app_->exit(end); }
  return {};
}
