// STAND-IN for tests: the child that compiles MSL. See compiler.h.
#include "compiler.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "../objc/runtime.h"

extern char **environ;

namespace stand_in {
namespace {

std::string escaped(const std::string &word) {
  std::string out;
  for (const char c : word) {
    if (static_cast<unsigned char>(c) >= 0x20 && c != '%') {
      out += c;
    } else {
      char text[4];
      std::snprintf(text, sizeof text, "%%%02X", static_cast<unsigned char>(c));
      out += text;
    }
  }
  return out;
}

std::string unescaped(const std::string &word) {
  std::string out;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] != '%' || i + 2 >= word.size()) {
      out += word[i];
      continue;
    }
    out += static_cast<char>(std::strtol(word.substr(i + 1, 2).c_str(), nullptr, 16));
    i += 2;
  }
  return out;
}

class Child {
 public:
  Child() {
    const char *node = std::getenv("STAND_IN_NODE");
    const char *script = std::getenv("STAND_IN_COMPILER");
    if (node == nullptr || script == nullptr) die("STAND_IN_NODE and STAND_IN_COMPILER must name Node and compiler.mjs");
    int to[2];
    int from[2];
    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) die("no pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
    char *const arguments[] = {const_cast<char *>(node), const_cast<char *>(script), nullptr};
    // What a sanitizer had to be preloaded into is this process alone.
    std::vector<char *> environment;
    for (char **entry = environ; *entry != nullptr; ++entry) {
      if (std::strncmp(*entry, "LD_PRELOAD=", 11) != 0) environment.push_back(*entry);
    }
    environment.push_back(nullptr);
    pid_t pid = 0;
    if (posix_spawn(&pid, node, &actions, nullptr, arguments, environment.data()) != 0) die("%s could not be started", node);
    posix_spawn_file_actions_destroy(&actions);
    close(to[0]);
    close(from[1]);
    // It ends when these are closed with the process.
    to_ = fdopen(to[1], "w");
    from_ = fdopen(from[0], "r");
  }

  std::vector<Words> ask(const Words &question) {
    for (std::size_t i = 0; i < question.size(); ++i) std::fprintf(to_, "%s%s", i == 0 ? "" : "\t", escaped(question[i]).c_str());
    std::fputc('\n', to_);
    std::fflush(to_);
    std::vector<Words> answer;
    for (;;) {
      const std::string line = read_line();
      if (line == "end") return answer;
      Words words;
      std::size_t begin = 0;
      for (std::size_t tab; (tab = line.find('\t', begin)) != std::string::npos; begin = tab + 1) {
        words.push_back(unescaped(line.substr(begin, tab - begin)));
      }
      words.push_back(unescaped(line.substr(begin)));
      answer.push_back(words);
    }
  }

 private:
  std::string read_line() {
    std::string line;
    for (int c; (c = std::fgetc(from_)) != '\n';) {
      if (c == EOF) die("the compiler of the stand-in has ended");
      line += static_cast<char>(c);
    }
    return line;
  }

  std::FILE *to_;
  std::FILE *from_;
};

}  // namespace

std::vector<Words> ask_compiler(const Words &question) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  static auto *child = new Child;
  return child->ask(question);
}

}  // namespace stand_in
