// STAND-IN for tests: arrays and dictionaries.
#import "foundation.h"

@implementation NSArray {
 @protected
  std::vector<id> items;
}

+ (instancetype)arrayWithObjects:(const id[])objects count:(NSUInteger)count {
  NSArray *array = [self new];
  for (NSUInteger i = 0; i < count; ++i) {
    if (objects[i] == nil) stand_in::die("nil was put into an array");
    array->items.push_back(objects[i]);
  }
  return array;
}

- (NSUInteger)count {
  return items.size();
}

- (id)objectAtIndexedSubscript:(NSUInteger)index {
  if (index >= items.size()) stand_in::die("index %lu is outside an array of %zu", index, items.size());
  return items[index];
}

- (id)copy {
  NSArray *copy = [NSArray new];
  copy->items = items;
  return copy;
}

- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState *)state objects:(id __unsafe_unretained[])buffer count:(NSUInteger)count {
  static unsigned long never;
  if (state->state == 0) state->mutationsPtr = &never;
  NSUInteger given = 0;
  for (; given < count && state->state < items.size(); ++given) buffer[given] = items[state->state++];
  state->itemsPtr = buffer;
  return given;
}
@end

@implementation NSMutableArray
- (void)addObject:(id)object {
  if (object == nil) stand_in::die("nil was put into an array");
  items.push_back(object);
}
@end

@implementation NSDictionary {
 @protected
  std::vector<std::pair<id, id>> entries;
}

+ (instancetype)dictionaryWithObjects:(const id[])objects forKeys:(const id<NSCopying>[])keys count:(NSUInteger)count {
  NSDictionary *dictionary = [self new];
  for (NSUInteger i = 0; i < count; ++i) {
    if (objects[i] == nil || keys[i] == nil) stand_in::die("nil was put into a dictionary");
    dictionary->entries.emplace_back(keys[i], objects[i]);
  }
  return dictionary;
}

- (NSUInteger)count {
  return entries.size();
}

- (id)objectForKeyedSubscript:(id)key {
  for (const auto &[known, value] : entries) {
    if ([known isEqual:key]) return value;
  }
  return nil;
}

- (id)copy {
  NSDictionary *copy = [NSDictionary new];
  copy->entries = entries;
  return copy;
}

- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState *)state objects:(id __unsafe_unretained[])buffer count:(NSUInteger)count {
  static unsigned long never;
  if (state->state == 0) state->mutationsPtr = &never;
  NSUInteger given = 0;
  for (; given < count && state->state < entries.size(); ++given) buffer[given] = entries[state->state++].first;
  state->itemsPtr = buffer;
  return given;
}
@end

@implementation NSMutableDictionary
- (void)setObject:(id)object forKeyedSubscript:(id<NSCopying>)key {
  for (auto entry = entries.begin(); entry != entries.end(); ++entry) {
    if (![(id)entry->first isEqual:key]) continue;
    if (object == nil) {
      entries.erase(entry);
    } else {
      entry->second = object;
    }
    return;
  }
  if (object != nil) entries.emplace_back(key, object);
}
@end
