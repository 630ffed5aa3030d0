/**
 * Vitest reporter whose last line is "N passed, N failed", the form that continuous integration reads.
 * A file that cannot be imported, and an error outside any test, count as failures.
 */
export default class PlainReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        count[state === "passed" || state === "failed" ? state : "skipped"] += 1;
      }
      count.failed += module.errors().length;
    }
    const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : "";
    console.log(`\n${count.passed} passed, ${count.failed} failed${skipped}`);
  }
}
