#pragma once
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace holdfast::test {

/// The words of the first line of docs/stores/redis.md that begins with this text, with its continuation lines, split
/// as by a shell, starting at ACL and with "a secret" for SECRET.
[[nodiscard]] inline std::vector<std::string> acl_in_the_document(const std::string& beginning) {
  std::ifstream document(HOLDFAST_SOURCE_DIR "/docs/stores/redis.md");
  std::vector<std::string> words;
  std::string line;
  while (std::getline(document, line) && !line.starts_with(beginning)) {
  }
  line.erase(0, line.find("ACL "));
  do {
    std::istringstream in(line);
    for (std::string word; in >> word;) {
      std::erase(word, '\'');
      if (word != "\\") words.push_back(word == ">SECRET" ? ">a secret" : word);
    }
  } while (std::getline(document, line) && line.starts_with("  "));
  return words;
}

}  // namespace holdfast::test
