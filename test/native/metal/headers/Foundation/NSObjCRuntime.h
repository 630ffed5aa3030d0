/* Stands for <Foundation/NSObjCRuntime.h>, <objc/objc.h> and <objc/NSObject.h>'s words: types, and words for clang. */
#pragma once
#include <os/availability.h>
#include <stddef.h>
#include <stdint.h>

/* BOOL is bool on arm64 (OBJC_BOOL_IS_BOOL), signed char on x86-64. Only arm64 is built. */
typedef bool BOOL;
typedef long NSInteger;
typedef unsigned long NSUInteger;

#define YES __objc_yes
#define NO __objc_no
#define nil nullptr

#define NS_ASSUME_NONNULL_BEGIN _Pragma("clang assume_nonnull begin")
#define NS_ASSUME_NONNULL_END _Pragma("clang assume_nonnull end")
#define NS_RETURNS_RETAINED __attribute__((ns_returns_retained))
#define NS_RETURNS_INNER_POINTER __attribute__((objc_returns_inner_pointer))
#define FOUNDATION_EXPORT extern "C"

/* As Objective-C++ sees them: an enumeration is a type of its own, options are their integer. */
#define NS_ENUM(type, name) \
  enum name : type name;    \
  enum name : type
#define NS_OPTIONS(type, name) \
  type name;                   \
  enum : type
