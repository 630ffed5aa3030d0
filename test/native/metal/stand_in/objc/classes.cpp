// STAND-IN for tests: loading of Objective-C modules, classes and messages. See runtime.h.
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime.h"

namespace stand_in {
namespace {

struct Category {
  const char *name;
  const char *class_name;
  MethodList *instance_methods;
  MethodList *class_methods;
  void *protocols;
};

/** What `__objc_exec_class` gets: selectors, then `class_count` classes and `category_count` categories. */
struct SymbolTable {
  unsigned long selector_count;
  Selector *selectors;
  unsigned short class_count;
  unsigned short category_count;
  void *definitions[1];
};

struct Module {
  unsigned long version;
  unsigned long size;
  const char *name;
  SymbolTable *symbols;
};

using MethodTable = std::unordered_map<const char *, Method>;

struct Registry {
  std::recursive_mutex mutex;
  std::unordered_set<std::string> names;
  std::unordered_map<std::string, ClassRecord *> classes;
  std::vector<Category *> categories;
};

Registry &registry() {
  static auto *instance = new Registry;
  return *instance;
}

void intern_names(MethodList *list) {
  for (; list != nullptr; list = list->next) {
    for (int i = 0; i < list->count; ++i) list->entries[i].name = intern(list->entries[i].name);
  }
}

void prepend(ClassRecord *cls, MethodList *list) {
  if (list == nullptr || list->count == 0) return;
  intern_names(list);
  list->next = cls->methods;
  cls->methods = list;
}

/** Categories are put in front of the methods of their classes when the first message is sent. */
void attach_categories() {
  Registry &known = registry();
  for (Category *category : known.categories) {
    const auto found = known.classes.find(category->class_name);
    // Clang keeps the protocols of a module alive by a category of a class that does not exist.
    if (found == known.classes.end()) continue;
    prepend(found->second, category->instance_methods);
    prepend(found->second->isa, category->class_methods);
  }
  known.categories.clear();
}

/** Own methods over those of the superclass. */
MethodTable *make_table(const ClassRecord *cls) {
  auto *table = new MethodTable;
  if (cls->super_class != nullptr) *table = *static_cast<MethodTable *>(cls->super_class->table);
  std::vector<const MethodList *> lists;
  for (const MethodList *list = cls->methods; list != nullptr; list = list->next) lists.push_back(list);
  for (auto list = lists.rbegin(); list != lists.rend(); ++list) {
    for (int i = 0; i < (*list)->count; ++i) (*table)[(*list)->entries[i].name] = (*list)->entries[i].method;
  }
  return table;
}

Object *answer_nil(Object *, const Selector *) { return nullptr; }

Method method_or_die(ClassRecord *cls, const Selector *selector) {
  const Method method = find_method(cls, selector->name);
  if (method == nullptr) {
    die("%c[%s %s]: the stand-in for Metal has no such method", cls->info & kMetaclass ? '+' : '-', cls->name, selector->name);
  }
  return method;
}

}  // namespace

void die(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::fputs("Stand-in for Metal: ", stderr);
  std::vfprintf(stderr, format, arguments);
  std::fputc('\n', stderr);
  va_end(arguments);
  std::abort();
}

const char *intern(const char *name) {
  Registry &known = registry();
  const std::lock_guard lock(known.mutex);
  return known.names.insert(name).first->c_str();
}

ClassRecord *find_class(const char *name) {
  Registry &known = registry();
  const std::lock_guard lock(known.mutex);
  const auto found = known.classes.find(name);
  return found == known.classes.end() ? nullptr : found->second;
}

void resolve(ClassRecord *any) {
  if (__atomic_load_n(&any->table, __ATOMIC_ACQUIRE) != nullptr) return;
  const std::lock_guard lock(registry().mutex);
  attach_categories();
  ClassRecord *cls = find_class(any->name);
  if (cls == nullptr) die("the class %s was not loaded", any->name);
  if (cls->info & kResolved) return;
  ClassRecord *super = nullptr;
  if (cls->super_class != nullptr) {
    const char *name = reinterpret_cast<const char *>(cls->super_class);
    super = find_class(name);
    if (super == nullptr) die("the superclass %s of %s was not loaded", name, cls->name);
    resolve(super);
  }
  // Sizes and offsets count from the end of the superclass (non-fragile instance variables).
  const long base = super == nullptr ? 0 : super->instance_size;
  if (cls->instance_size <= 0) cls->instance_size = base - cls->instance_size;
  for (int i = 0; cls->ivars != nullptr && i < cls->ivars->count; ++i) {
    cls->ivars->entries[i].offset += static_cast<int>(base);
    if (cls->ivar_offsets != nullptr) *cls->ivar_offsets[i] += static_cast<int>(base);
  }
  cls->super_class = super;
  ClassRecord *root = cls;
  while (root->super_class != nullptr) root = root->super_class;
  ClassRecord *meta = cls->isa;
  meta->isa = root->isa;
  meta->super_class = super == nullptr ? cls : super->isa;
  cls->info |= kResolved;
  meta->info |= kResolved;
  __atomic_store_n(&cls->table, make_table(cls), __ATOMIC_RELEASE);
  __atomic_store_n(&meta->table, make_table(meta), __ATOMIC_RELEASE);
}

Method find_method(ClassRecord *cls, const char *interned) {
  resolve(cls);
  const auto *table = static_cast<const MethodTable *>(cls->table);
  const auto found = table->find(interned);
  return found == table->end() ? nullptr : found->second;
}

Method own_method(ClassRecord *cls, const char *interned) {
  for (const MethodList *list = cls->methods; list != nullptr; list = list->next) {
    for (int i = 0; i < list->count; ++i) {
      if (list->entries[i].name == interned) return list->entries[i].method;
    }
  }
  return nullptr;
}

}  // namespace stand_in

using stand_in::ClassRecord;
using stand_in::Method;
using stand_in::Object;
using stand_in::Selector;

struct Super {
  Object *self;
  ClassRecord *cls;
};

extern "C" {

void __objc_exec_class(stand_in::Module *module, ...) {
  auto &known = stand_in::registry();
  const std::lock_guard lock(known.mutex);
  stand_in::SymbolTable *symbols = module->symbols;
  for (unsigned long i = 0; symbols->selectors != nullptr && symbols->selectors[i].name != nullptr; ++i) {
    symbols->selectors[i].name = stand_in::intern(symbols->selectors[i].name);
  }
  for (int i = 0; i < symbols->class_count; ++i) {
    auto *cls = static_cast<ClassRecord *>(symbols->definitions[i]);
    stand_in::intern_names(cls->methods);
    stand_in::intern_names(cls->isa->methods);
    if (!known.classes.emplace(cls->name, cls).second) stand_in::die("the class %s is there twice", cls->name);
  }
  for (int i = 0; i < symbols->category_count; ++i) {
    known.categories.push_back(static_cast<stand_in::Category *>(symbols->definitions[symbols->class_count + i]));
  }
}

Method objc_msg_lookup(Object *self, const Selector *selector) {
  if (self == nullptr) return stand_in::answer_nil;
  return stand_in::method_or_die(self->isa, selector);
}

Method objc_msg_lookup_super(Super *super, const Selector *selector) {
  if (super->self == nullptr) return stand_in::answer_nil;
  return stand_in::method_or_die(super->cls, selector);
}

// Structures that do not fit registers; the compiler itself asks for nil.
Method objc_msg_lookup_stret(Object *self, const Selector *selector) { return objc_msg_lookup(self, selector); }
Method objc_msg_lookup_super_stret(Super *super, const Selector *selector) { return objc_msg_lookup_super(super, selector); }

void objc_enumerationMutation(Object *) { stand_in::die("a collection was changed while it was enumerated"); }

/** Functions of Objective-C++ name this one; no Objective-C exceptions are thrown here, so that the one of C++ does. */
int __gxx_personality_v0(int, int, unsigned long, void *, void *);
int __gnu_objc_personality_v0(int version, int actions, unsigned long exception_class, void *exception, void *context) {
  return __gxx_personality_v0(version, actions, exception_class, exception, context);
}
}
