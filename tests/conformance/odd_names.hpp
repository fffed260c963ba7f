#pragma once
#include <string>
#include <vector>

namespace holdfast::conformance {

/// Names that a store could take for something else.
inline const std::vector<std::string>& odd_names() {
  static const std::vector<std::string> all = {
      "a",
      "A",
      " ",
      " a ",
      "a b",
      "/",
      "a/b",
      "a//b",
      "/a",
      "a/",
      ".",
      "..",
      "../../etc/passwd",
      "a%2Fb",
      "%",
      "%00",
      "{a}",
      "{a}b",
      "a{b}",
      "{}",
      "}{",
      "a:b",
      "a:q",
      "*",
      "?",
      "[a-z]",
      "'; DROP TABLE locks; --",
      "\"quoted\"",
      "back\\slash",
      "tab\there",
      "line\nbreak",
      "\r\n",
      "\x01\x02\x7f",
      "\xff\xfe not utf-8",
      "Z\xc3\xbcrich",
      "\xe9\x8e\x96",
      "\xf0\x9f\x94\x92",
      std::string(511, 'x') + "1",
      std::string(511, 'x') + "2",
      std::string(512, ' '),
      std::string(256, '/') + std::string(256, '\xff'),
  };
  return all;
}

}  // namespace holdfast::conformance
