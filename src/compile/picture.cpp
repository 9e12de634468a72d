// A picture of where the time of a call went: a time line of its steps, and a roofline. Start with `to_svg`.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "program/markup.h"
#include "ricci/compile.h"
#include "ricci/error.h"

namespace ricci {
namespace {

constexpr double width = 900, margin = 70, row = 18;
constexpr std::array colors = {"#4878a8", "#d08050", "#5a9e6f", "#b0556b", "#8872a8", "#8c7058", "#c28bb0", "#7f7f7f"};

std::string number(double x, const char* form = "%.6g") {
  char text[40];
  std::snprintf(text, sizeof text, form, x);
  return text;
}
std::string words(double x, double y, const std::string& text, const char* anchor = "start") {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + anchor + "\">" + in_markup(text) +
         "</text>\n";
}
std::string line(double x1, double y1, double x2, double y2, const char* color) {
  return "<line x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) + "\" y2=\"" + number(y2) +
         "\" stroke=\"" + color + "\"/>\n";
}
/// `12.3 us`
std::string time_text(double seconds) {
  return seconds < 1e-3 ? number(seconds * 1e6, "%.3g") + " us" : number(seconds * 1e3, "%.3g") + " ms";
}
/// A step's text behind the pointer.
std::string tip(const ExplainedStep& step) {
  std::string text = step.text + ": " + time_text(step.seconds);
  if (step.operations) text += ", " + number(*step.operations, "%.3g") + " operations";
  return "<title>" + in_markup(text + ", " + number(step.bytes, "%.3g") + " bytes") + "</title>";
}

/// One bar for each step, with those inside of it in the rows below, as far as these have time.
class TimeLine {
 public:
  explicit TimeLine(const std::vector<ExplainedStep>& steps) {
    double total = 0;
    for (const ExplainedStep& step : steps) total += step.seconds;
    scale_ = total > 0 ? (width - 2 * margin) / total : 0;
    double begin = margin;
    for (std::size_t i = 0; i < steps.size(); ++i)
      begin += draw(steps[i], steps[i].seconds, begin, 0, colors[i % colors.size()]);
    text = words(margin, 20, "Time: " + time_text(total) + " in all, step by step") + text;
  }
  double height() const { return 50 + row * static_cast<double>(deepest_ + 1); }
  std::string text;

 private:
  /// `seconds`: as which the step is drawn. Gives the width.
  double draw(const ExplainedStep& step, double seconds, double begin, std::size_t depth, const char* color) {
    deepest_ = std::max(deepest_, depth);
    const double wide = seconds * scale_, top = 30 + row * static_cast<double>(depth);
    text += "<g>" + tip(step) + "<rect x=\"" + number(begin) + "\" y=\"" + number(top) + "\" width=\"" + number(wide) +
            "\" height=\"" + number(row - 2) + "\" fill=\"" + color + "\"/>";
    constexpr double of_letter = 6.2;
    const auto letters = static_cast<std::size_t>(std::max(0., wide - 4) / of_letter);
    const std::string name = step.text.substr(0, step.text.find(' '));
    if (name.size() <= letters) text += words(begin + 2, top + 12, name);
    text += "</g>\n";
    // Timers take time: what is inside may have taken longer in its own run.
    double inside = 0;
    for (const ExplainedStep& inner : step.inside) inside += inner.seconds;
    const double shrink = inside > seconds ? seconds / inside : 1;
    double at = begin;
    for (const ExplainedStep& inner : step.inside) at += draw(inner, inner.seconds * shrink, at, depth + 1, color);
    return wide;
  }

  double scale_ = 0;
  std::size_t deepest_ = 0;
};

/// Operations a second over operations a byte, both in powers of ten. A step's limit is drawn with it: memory's slope
/// up to arithmetic's ceiling.
class Roofline {
 public:
  Roofline(const std::vector<ExplainedStep>& steps, double top) : top_(top) {
    for (std::size_t i = 0; i < steps.size(); ++i) add(steps[i], i);
    text +=
        words(margin, top + 14,
              points_.empty() ? "No step counts its operations" : "Speed: operations a second over operations a byte");
    if (points_.empty()) return;
    axes();
    for (const Point& p : points_) limit(p);
    for (const Point& p : points_) dot(p);
  }
  double height() const { return points_.empty() ? 30 : tall + 80; }
  std::string text;

 private:
  struct Point {
    const ExplainedStep* step;
    const char* color;
    double intensity, speed;
  };
  static constexpr double tall = 300;

  void add(const ExplainedStep& step, std::size_t number_of_step) {
    if (step.operations.value_or(0) > 0 && step.bytes > 0 && step.seconds > 0)
      points_.push_back({&step, colors[number_of_step % colors.size()], *step.operations / step.bytes,
                         *step.operations / step.seconds});
    for (const ExplainedStep& inner : step.inside) add(inner, number_of_step);
  }
  void axes() {
    for (const Point& p : points_) {
      const double ridge = p.step->operations_per_second / p.step->bytes_per_second;
      left_ = std::min({left_, std::floor(std::log10(p.intensity)), std::floor(std::log10(ridge))});
      right_ = std::max({right_, std::ceil(std::log10(p.intensity)), std::ceil(std::log10(ridge)) + 1});
      low_ = std::min(low_, std::floor(std::log10(p.speed)));
      high_ = std::max({high_, std::ceil(std::log10(p.speed)), std::ceil(std::log10(p.step->operations_per_second))});
    }
    right_ = std::max(right_, left_ + 1), high_ = std::max(high_, low_ + 1);
    for (double e = left_; e <= right_; ++e) {
      text += line(x(e), y(low_), x(e), y(high_), "#dddddd") + words(x(e), y(low_) + 16, "1e" + number(e), "middle");
    }
    for (double e = low_; e <= high_; ++e)
      text += line(x(left_), y(e), x(right_), y(e), "#dddddd") + words(x(left_) - 6, y(e) + 4, "1e" + number(e), "end");
  }
  void limit(const Point& p) {
    const double memory = std::log10(p.step->bytes_per_second), most = std::log10(p.step->operations_per_second);
    const double ridge = most - memory, from = std::clamp(low_ - memory, left_, ridge);
    text += "<polyline fill=\"none\" stroke=\"" + std::string(p.color) + "\" stroke-opacity=\"0.5\" points=\"" +
            number(x(from)) + "," + number(y(std::max(low_, from + memory))) + " " + number(x(ridge)) + "," +
            number(y(most)) + " " + number(x(right_)) + "," + number(y(most)) + "\"/>\n";
  }
  void dot(const Point& p) {
    const double at = x(std::log10(p.intensity)), up = y(std::log10(p.speed));
    const bool is_right = at > width - 2 * margin;
    text += "<g>" + tip(*p.step) + "<circle cx=\"" + number(at) + "\" cy=\"" + number(up) + "\" r=\"4\" fill=\"" +
            p.color + "\"/>" +
            words(is_right ? at - 6 : at + 6, up + 4, p.step->text.substr(0, p.step->text.find(' ')),
                  is_right ? "end" : "start") +
            "</g>\n";
  }
  double x(double exponent) const { return margin + (exponent - left_) / (right_ - left_) * (width - 2 * margin); }
  double y(double exponent) const { return top_ + 30 + tall - (exponent - low_) / (high_ - low_) * tall; }

  double top_;
  double left_ = 1e9, right_ = -1e9, low_ = 1e9, high_ = -1e9;  // exponents of ten
  std::vector<Point> points_;
};

}  // namespace

std::string Explanation::to_svg() const {
  const TimeLine times(steps_);
  const Roofline speeds(steps_, times.height());
  const double height = times.height() + speeds.height();
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(width) + "\" height=\"" + number(height) +
         "\" font-family=\"monospace\" font-size=\"10\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n" +
         times.text + speeds.text + "</svg>\n";
}

void Explanation::save(const std::string& path) const {
  if (!path.ends_with(".svg")) throw ValueError("Explanation::save: " + path + " must end in .svg, the form it is in");
  std::ofstream out(path);
  out << to_svg();
  out.close();
  if (!out.good()) throw ValueError("Explanation::save: " + path + " cannot be written; is there such a folder?");
}

}  // namespace ricci
