/* Stands for <CoreFoundation/CoreFoundation.h>: what reading a number out of the IO registry takes. Source: SDK 14.2. */
#pragma once
#include <stdint.h>

typedef double CFTimeInterval;
typedef long CFIndex;
typedef unsigned long CFTypeID;
typedef unsigned char Boolean;
typedef uint32_t UInt32;

typedef const void *CFTypeRef;
typedef const struct __attribute__((objc_bridge(id))) __CFAllocator *CFAllocatorRef;
typedef const struct __attribute__((objc_bridge(NSDictionary))) __CFDictionary *CFDictionaryRef;
typedef struct __attribute__((objc_bridge_mutable(NSMutableDictionary))) __CFDictionary *CFMutableDictionaryRef;
typedef const struct __attribute__((objc_bridge(NSNumber))) __CFNumber *CFNumberRef;
typedef const struct __attribute__((objc_bridge(NSString))) __CFString *CFStringRef;

typedef CFIndex CFNumberType;
enum : CFNumberType {
  kCFNumberSInt64Type = 4,
};

#define CFSTR(text) ((CFStringRef)__builtin___CFStringMakeConstantString("" text ""))

extern "C" {
extern const CFAllocatorRef kCFAllocatorDefault;
CFTypeID CFGetTypeID(CFTypeRef value);
CFTypeID CFNumberGetTypeID(void);
Boolean CFNumberGetValue(CFNumberRef number, CFNumberType type, void *value);
void CFRelease(CFTypeRef value);
}
