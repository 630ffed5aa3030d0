/* Stands for <Metal/MTLTypes.h>. */
#pragma once
#include <Foundation/Foundation.h>

typedef struct {
  NSUInteger width;
  NSUInteger height;
  NSUInteger depth;
} MTLSize;

static inline MTLSize MTLSizeMake(NSUInteger width, NSUInteger height, NSUInteger depth) {
  MTLSize size;
  size.width = width;
  size.height = height;
  size.depth = depth;
  return size;
}
