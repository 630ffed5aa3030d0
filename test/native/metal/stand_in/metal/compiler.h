#pragma once
/*
 * STAND-IN for tests: MSL is compiled by a Node program (compiler.ts) with the front end of the emulated device. One child
 * for the process, asked one question at a time; lines of words separated by tabs, each word escaped as in a URL.
 */
#include <string>
#include <vector>

namespace stand_in {

using Words = std::vector<std::string>;

/** Lines of the answer. Ends the process if the child is not there: nothing could be tested. */
std::vector<Words> ask_compiler(const Words &question);

}  // namespace stand_in
