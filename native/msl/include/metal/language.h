/** The language part of the MSL standard library: types, vectors, matrices, math. No execution, no keyword macros. */
#pragma once

#include "address_space.h"
#include "as_type.h"
#include "builtins.h"
#include "common.h"
#include "exp.h"
#include "geometric.h"
#include "integer.h"
#include "limits.h"
#include "math.h"
#include "math_variants.h"
#include "matrix.h"
#include "relational.h"
#include "scalar.h"
#include "type_traits.h"
#include "vector_names.h"
