#pragma once
#include <string_view>

namespace holdfast::cli {

/// Says a line on stderr, for people: "holdfast: ...". What others wrote in it is made harmless. A reader who does not
/// read is left behind after a moment: nobody shall keep us from minding the lock.
void say_in_words(std::string_view line);

}  // namespace holdfast::cli
