/* Stands for <IOKit/IOKitLib.h>: reading one entry of the IO registry. Source: <IOKit/IOKitLib.h>, SDK 14.2. */
#pragma once
#include <CoreFoundation/CoreFoundation.h>
#include <os/availability.h>
#include <stdint.h>

typedef int kern_return_t;
typedef uint32_t mach_port_t;
typedef mach_port_t io_object_t;
typedef io_object_t io_registry_entry_t;
typedef io_object_t io_service_t;
typedef UInt32 IOOptionBits;
typedef char io_name_t[128];

#define kIOServicePlane "IOService"
enum {
  kIORegistryIterateRecursively = 0x00000001,
  kIORegistryIterateParents = 0x00000002,
};

extern "C" {
/* Called kIOMasterPortDefault before macOS 12. */
extern const mach_port_t kIOMainPortDefault API_AVAILABLE(macos(12.0));
kern_return_t IOObjectRelease(io_object_t object);
/* Consumes a reference to `matching`. */
io_service_t IOServiceGetMatchingService(mach_port_t mainPort, CFDictionaryRef matching);
CFMutableDictionaryRef IORegistryEntryIDMatching(uint64_t entryID) __attribute__((cf_returns_retained));
CFTypeRef IORegistryEntrySearchCFProperty(io_registry_entry_t entry, const io_name_t plane, CFStringRef key,
                                          CFAllocatorRef allocator, IOOptionBits options)
    __attribute__((cf_returns_retained));
}
