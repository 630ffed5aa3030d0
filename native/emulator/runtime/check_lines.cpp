#include "check_lines.h"

#include "check_session.h"

namespace lockstep {

namespace {

constexpr const char *kKinds[LOCKSTEP_REPORT_KINDS] = {
    "race",
    "device_race",
    "lockstep_exchange",
    "same_value_write",
    "out_of_bounds",
    "misaligned",
    "read_only_write",
    "uninitialized_threadgroup",
    "uninitialized_device",
    "uninitialized_stack",
    "nan_created",
    "infinity_created",
    "infinity_in_fast_math",
    "divergent_barrier",
    "divergent_collective",
    "exited_before_barrier",
    "integer_overflow",
    "unwritten_output",
    "written_twice",
};
constexpr const char *kSpaces[] = {"none", "buffer", "bytes", "dynamic", "static", "stack"};
constexpr const char *kAccesses[] = {"none", "read", "write", "atomic", "barrier", "collective", "arithmetic", "exit"};

/** A JSON object under construction in a fixed buffer. */
class Line {
public:
  Line(char *text, std::size_t size) : text_(text), size_(size) {}

  Line &raw(const char *words) {
    for (; *words != 0 && length_ + 1 < size_; ++words) text_[length_++] = *words;
    text_[length_] = 0;
    return *this;
  }
  Line &number(std::uint64_t value) {
    char digits[24];
    int at = sizeof digits;
    digits[--at] = 0;
    do digits[--at] = static_cast<char>('0' + value % 10);
    while ((value /= 10) != 0);
    return raw(digits + at);
  }
  Line &name(const char *key) {
    if (length_ > 0 && text_[length_ - 1] != '{') raw(",");
    return raw("\"").raw(key).raw("\":");
  }
  Line &field(const char *key, std::uint64_t value) { return name(key).number(value); }
  Line &field(const char *key, const char *word) { return name(key).raw("\"").raw(word).raw("\""); }
  Line &signed_field(const char *key, std::int64_t value) {
    name(key);
    if (value < 0) raw("-");
    return number(value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value));
  }
  /** A number of 64 bits, as a string: JSON's numbers have fewer. */
  Line &wide_field(const char *key, std::uint64_t value) { return name(key).raw("\"").number(value).raw("\""); }
  Line &side(const char *key, const lockstep_side &side) {
    name(key).raw("{");
    field("site", side.site).field("access", kAccesses[side.access % 8]).field("dispatch", side.dispatch);
    name("threadgroup").raw("[").number(side.threadgroup[0]).raw(",").number(side.threadgroup[1]).raw(",");
    return number(side.threadgroup[2]).raw("]").field("thread", side.thread).raw("}");
  }

private:
  char *text_;
  std::size_t size_;
  std::size_t length_ = 0;
};

} // namespace

void write_report_line(std::uint64_t run, const lockstep_report &report, char *text, std::size_t size) {
  Line line(text, size);
  line.raw("{").field("type", "report").field("run", run).field("kind", kKinds[report.kind % LOCKSTEP_REPORT_KINDS]);
  line.field("detail", report.detail).field("space", kSpaces[report.space % 6]).field("index", report.index).field("bytes", report.bytes);
  line.signed_field("offset", report.offset).field("size", report.size).field("count", report.count);
  line.wide_field("a", report.values[0]).wide_field("b", report.values[1]).side("first", report.first);
  if (report.has_second != 0) line.side("second", report.second);
  line.raw("}");
}

void write_traffic_line(std::uint64_t run, const TrafficRow &row, char *text, std::size_t size) {
  Line line(text, size);
  line.raw("{").field("type", "traffic").field("run", run).field("dispatch", row.dispatch).field("site", row.site);
  line.field("access", row.writes ? "write" : "read").field("space", kSpaces[row.space % 6]).field("index", row.index);
  line.field("bytes", row.bytes).field("size", row.size).field("accesses", row.accesses).field("simdAccesses", row.simd_accesses);
  line.field("requested", row.requested).field("distinct", row.distinct).field("units", row.units).field("ideal", row.ideal);
  line.field("worst", row.worst).raw("}");
}

void write_checked_line(std::uint64_t run, std::uint64_t dropped, std::uint64_t lost, char *text, std::size_t size) {
  Line line(text, size);
  line.raw("{").field("type", "checked").field("run", run).field("dropped", dropped).field("lost", lost).raw("}");
}

} // namespace lockstep
