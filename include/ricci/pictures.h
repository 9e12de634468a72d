// Pictures of programs. `Explanation` (ricci/compile.h) draws itself.
#pragma once

#include <string>

#include "ricci/program.h"

namespace ricci {

/// The program as a graph in the language of Graphviz: a box for each input, equation and output, an arrow for each
/// variable that an equation reads, labelled with the variable's name. The programs of a loop or branch stand in frames
/// inside the program.
///   std::ofstream("program.dot") << rc::to_dot(rc::trace(f)(x));  // dot -Tsvg program.dot -o program.svg
std::string to_dot(const Program& program);
/// The program as a table in HTML, to be put into a page: a row for each equation, with its place in the user's source
/// as the row's title where that is known. The programs of a loop or branch are tables in its row, and unfold.
///   std::ofstream("program.html") << rc::to_html(rc::trace(f)(x));
std::string to_html(const Program& program);

}  // namespace ricci
