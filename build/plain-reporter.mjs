// @ts-check
import { notRunOn } from "../test/elsewhere.mjs";

/**
 * Vitest reporter whose last line is "N passed, N failed", the form that continuous integration reads. Before it stands what is
 * not run on this system, and why.
 * A file that cannot be imported, and an error outside any test, count as failures.
 */
export default class PlainReporter {
  /**
   * @param {readonly import("vitest/node").TestModule[]} modules
   * @param {readonly unknown[]} unhandledErrors
   */
  onTestRunEnd(modules, unhandledErrors) {
    let passed = 0;
    let failed = unhandledErrors.length;
    let skipped = 0;
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === "passed") passed += 1;
        else if (state === "failed") failed += 1;
        else skipped += 1;
      }
      failed += module.errors().length;
    }
    for (const { files, why } of notRunOn())
      console.log(`\nnot run on ${process.platform}: ${files.join(", ")}: ${why}`);
    console.log(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
  }
}
