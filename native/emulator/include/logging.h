/**
 * Logging (MSL specification section 6.19, `metal_logging`): a message is formatted where it is logged and handed to
 * whoever launched the threadgroup, with its type, subsystem, category and the thread's position.
 *
 * The format is that of `printf` without %n, %s, %@ and `*`, with `hl` for elements of four bytes and
 * `%v[2|3|4][length][conversion]` for vectors. What a conversion takes is converted to what it needs, so a wrong length
 * modifier reads no memory; a conversion without an argument, or one that does not exist, prints as it is written.
 */
#pragma once

#include "fiber.h"

extern "C" int snprintf(char *, unsigned long, const char *, ...);

namespace metal {

enum log_type : int { log_type_debug, log_type_info, log_type_default, log_type_error, log_type_fault };

} // namespace metal

namespace lockstep {

/** One argument: up to four elements, kept as what `printf` takes. */
struct LogArgument {
  enum Kind : unsigned char { signed_integer, unsigned_integer, real, address };
  Kind kind;
  unsigned char count;
  /** Bytes of an element. */
  unsigned char size;
  union {
    ulong bits[4];
    double reals[4];
  };
};

/** Longer messages are cut. */
inline constexpr unsigned LOG_BYTES = 512;

template <typename T> LOCKSTEP_INTERNAL LogArgument log_argument(T value) {
  LogArgument result;
  result.bits[0] = result.bits[1] = result.bits[2] = result.bits[3] = 0;
  if constexpr (__is_pointer(T)) {
    result.kind = LogArgument::address;
    result.count = 1;
    result.size = sizeof(value);
    result.bits[0] = (ulong)value;
  } else {
    using E = element_t<T>;
    static_assert(metal::is_arithmetic_v<E> || __is_enum(E), "os_log takes numbers, vectors of numbers and pointers");
    constexpr bool is_real = metal::is_floating_point_v<E>;
    constexpr bool is_unsigned = static_cast<E>(-1) > static_cast<E>(0);
    result.kind = is_real ? LogArgument::real : (is_unsigned ? LogArgument::unsigned_integer : LogArgument::signed_integer);
    result.count = static_cast<unsigned char>(count_v<T>);
    result.size = sizeof(E);
    for (int i = 0; i < count_v<T>; ++i) {
      if constexpr (is_real) {
        result.reals[i] = static_cast<double>(static_cast<float>(lane(value, i)));
      } else {
        result.bits[i] = static_cast<ulong>(static_cast<long>(lane(value, i)));
      }
    }
  }
  return result;
}

/** The text under construction, always ended by a zero. */
struct LogText {
  char text[LOG_BYTES];
  unsigned length = 0;

  LOCKSTEP_INTERNAL void add(char c) {
    if (length + 1 < LOG_BYTES) text[length++] = c;
    text[length] = 0;
  }
  LOCKSTEP_INTERNAL void added(int written) {
    if (written > 0) length += static_cast<unsigned>(written);
    if (length >= LOG_BYTES) length = LOG_BYTES - 1;
    text[length] = 0;
  }
};

/** One conversion of `printf`: `%` flags width precision. */
struct LogConversion {
  char start[32];
  unsigned length = 0;
  /** Elements that `%v` asks for; 0 without it. */
  unsigned elements = 0;
  char letter = 0;
};

LOCKSTEP_INTERNAL bool is_one_of(char c, const char *set) {
  for (; *set != 0; ++set) {
    if (*set == c) return true;
  }
  return false;
}

/** Reads the conversion behind the `%` at `at`; returns where it ends, or null if it is none. */
inline __attribute__((noinline, LOCKSTEP_UNSEEN)) const char *read_conversion(const char *at, LogConversion &conversion) {
  conversion.start[conversion.length++] = '%';
  const auto keep = [&](const char *set) __attribute__((always_inline)) {
    while (is_one_of(*at, set) && conversion.length < 20) conversion.start[conversion.length++] = *at++;
  };
  keep("-+ #0");
  keep("0123456789");
  if (*at == '.') {
    keep(".");
    keep("0123456789");
  }
  if (*at == 'v') {
    ++at;
    if (*at < '2' || *at > '4') return nullptr;
    conversion.elements = static_cast<unsigned>(*at++ - '0');
  }
  while (is_one_of(*at, "hljztL")) ++at;
  conversion.letter = *at;
  return is_one_of(*at, "diouxXcfFeEgGaAp") ? at + 1 : nullptr;
}

/** Prints element `i` of `argument` by `conversion`. */
inline __attribute__((noinline, LOCKSTEP_UNSEEN)) void print_element(LogText &out, LogConversion &conversion,
                                                                   const LogArgument &argument, unsigned i) {
  char *const end = conversion.start + conversion.length;
  const unsigned long room = LOG_BYTES - out.length;
  char *const to = out.text + out.length;
  const char letter = conversion.letter;
  const bool is_real = argument.kind == LogArgument::real;
  if (is_one_of(letter, "fFeEgGaA")) {
    const bool is_signed = argument.kind == LogArgument::signed_integer;
    const double value = is_real     ? argument.reals[i]
                         : is_signed ? static_cast<double>(static_cast<long>(argument.bits[i]))
                                     : static_cast<double>(argument.bits[i]);
    end[0] = letter;
    end[1] = 0;
    out.added(snprintf(to, room, conversion.start, value));
    return;
  }
  ulong bits = is_real ? static_cast<ulong>(static_cast<long>(argument.reals[i])) : argument.bits[i];
  if (letter == 'c') {
    end[0] = 'c';
    end[1] = 0;
    out.added(snprintf(to, room, conversion.start, static_cast<int>(bits)));
    return;
  }
  if (letter == 'p') {
    end[0] = 'p';
    end[1] = 0;
    out.added(snprintf(to, room, conversion.start, (void *)bits));
    return;
  }
  // An unsigned conversion of a negative number shows the bits of its own width.
  if (is_one_of(letter, "ouxX") && argument.size < 8) bits &= (1ul << (8 * argument.size)) - 1;
  end[0] = 'l';
  end[1] = letter;
  end[2] = 0;
  out.added(snprintf(to, room, conversion.start, bits));
}

/** Formats a message and hands it over. */
inline __attribute__((noinline, cold, LOCKSTEP_UNSEEN)) void log_message(int type, const char *subsystem, const char *category,
                                                                       const char *format, const LogArgument *arguments,
                                                                       unsigned count) {
  const lockstep_launch &launch = *lockstep_threadgroup.launch;
  if (launch.log == nullptr) return;
  LogText out;
  out.text[0] = 0;
  unsigned next = 0;
  for (const char *at = format; *at != 0;) {
    if (*at != '%') {
      out.add(*at++);
      continue;
    }
    if (at[1] == '%') {
      out.add('%');
      at += 2;
      continue;
    }
    LogConversion conversion;
    const char *const end = read_conversion(at + 1, conversion);
    const unsigned wanted = conversion.elements == 0 ? 1 : conversion.elements;
    if (end == nullptr || next == count || wanted > arguments[next].count) {
      out.add(*at++);
      continue;
    }
    for (unsigned i = 0; i < wanted; ++i) {
      if (i > 0) out.add(',');
      print_element(out, conversion, arguments[next], i);
    }
    ++next;
    at = end;
  }
  const Lane &lane = *lockstep_current;
  lockstep_log_line line{};
  line.type = static_cast<uint32_t>(type);
  line.subsystem = subsystem;
  line.category = category;
  line.text = out.text;
  for (int i = 0; i < 3; ++i) {
    line.threadgroup[i] = lockstep_threadgroup.position[i];
    line.position[i] = lane.position[i];
  }
  line.thread = lane.flat;
  launch.log(&line);
}

} // namespace lockstep

namespace metal {

/** A log object. The `constant` qualifier of its functions binds from any space here. */
struct os_log {
  LOCKSTEP_INTERNAL constexpr os_log(const LS_CONSTANT char *subsystem, const LS_CONSTANT char *category)
      : subsystem_(subsystem), category_(category) {}

#define LOCKSTEP_LOG(name, kind)                                                                                       \
  template <typename... A> LOCKSTEP_COLLECTIVE void name(const LS_CONSTANT char *format, A... arguments) const {       \
    log_with_type(kind, format, arguments...);                                                                         \
  }
  LOCKSTEP_LOG(log_debug, log_type_debug)
  LOCKSTEP_LOG(log_info, log_type_info)
  LOCKSTEP_LOG(log, log_type_default)
  LOCKSTEP_LOG(log_error, log_type_error)
  LOCKSTEP_LOG(log_fault, log_type_fault)
#undef LOCKSTEP_LOG

  template <typename... A>
  LOCKSTEP_COLLECTIVE void log_with_type(log_type type, const LS_CONSTANT char *format, A... arguments) const {
    // One more than needed, so that the list is never empty.
    const lockstep::LogArgument list[] = {lockstep::log_argument(arguments)..., lockstep::log_argument(0)};
    lockstep::log_message(type, (const char *)subsystem_, (const char *)category_, (const char *)format, list, sizeof...(A));
  }

private:
  const LS_CONSTANT char *subsystem_;
  const LS_CONSTANT char *category_;
};

inline constexpr os_log os_log_default(nullptr, nullptr);

} // namespace metal

using metal::os_log_default;
