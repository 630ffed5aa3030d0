/** Reports and counts of the check flavours as JSON lines, written without allocation: a signal handler may need them. */
#pragma once

#include <cstddef>
#include <cstdint>

#include "check.h"

namespace lockstep {

struct TrafficRow;

void write_report_line(std::uint64_t run, const lockstep_report &report, char *text, std::size_t size);
void write_traffic_line(std::uint64_t run, const TrafficRow &row, char *text, std::size_t size);
/** What ends the lines of a run: reports that found no room, lines whose traffic was not counted. */
void write_checked_line(std::uint64_t run, std::uint64_t dropped, std::uint64_t lost, char *text, std::size_t size);

} // namespace lockstep
