/**
 * The execution part of the standard library: ids, barriers, simdgroup functions, matrices, atomics. Included after the
 * language part (scalars, vectors, traits) and before the MSL keywords are defined.
 */
#pragma once

#include "atomic.h"
#include "barrier.h"
#include "entry.h"
#include "logging.h"
#include "quadgroup.h"
#include "simdgroup.h"
#include "simdgroup_builtins.h"
#include "simdgroup_matrix.h"
