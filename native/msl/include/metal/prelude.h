/**
 * The precompiled prefix of every kernel module: the language part, the execution part, and last the keyword macros.
 * Nothing is included after `keywords.h`, because `device`, `thread` and `constant` are ordinary words in C++.
 */
#pragma once

#include "language.h"

#include "execution.h"

#include "keywords.h"
