// @ts-check
/**
 * Finds the headers of libc++, whose names in object files are those of macOS's C++ library: the tests that check the native
 * code for macOS without a Mac compile with them. As root on Debian or Ubuntu they are installed, aloud.
 */
import { spawnSync } from "node:child_process";
import { compiler, requirePackages } from "./compiler.mjs";

if (process.platform !== "darwin") {
  const { clang, major } = compiler();
  requirePackages(
    "The headers of libc++ are needed to check the native code for macOS, and clang finds none.",
    [`libc++-${major}-dev`],
    () => {
      const { stderr } = spawnSync(clang, ["-E", "-v", "-stdlib=libc++", "-x", "c++", "-"], {
        input: "",
        encoding: "utf8",
      });
      return /\/c\+\+\/v1$/m.test(stderr ?? "");
    },
  );
}
