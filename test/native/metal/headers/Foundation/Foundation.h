/*
 * Stands for <Foundation/Foundation.h>: declarations of what native/metal uses and of nothing else, written by hand. They
 * serve three uses: checking types for an Apple target, generating code for it, and the stand-in that implements them on
 * Linux. A wrong declaration here passes a wrong source: each names where it was read.
 */
#pragma once
#include <CoreFoundation/CoreFoundation.h>
#include <Foundation/NSObjCRuntime.h>

#include <Foundation/NSObject.h>

#include <Foundation/NSArray.h>
#include <Foundation/NSData.h>
#include <Foundation/NSDictionary.h>
#include <Foundation/NSEnumerator.h>
#include <Foundation/NSError.h>
#include <Foundation/NSException.h>
#include <Foundation/NSProcessInfo.h>
#include <Foundation/NSRange.h>
#include <Foundation/NSString.h>
#include <Foundation/NSURL.h>
#include <Foundation/NSValue.h>
