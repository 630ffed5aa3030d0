/**
 * A stand-in for a distribution of Electron, for tests of packaging: files where Electron has them, with the wire of fuses in
 * them. It runs nothing.
 */
import fs from "node:fs";
import path from "node:path";

/** What Electron's binary has before its fuses: https://www.electronjs.org/docs/latest/tutorial/fuses */
const SENTINEL = "dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX";

/** A binary with a wire of fuses as Electron comes with: version 1, length, states. */
function binary(states: string): Buffer {
  return Buffer.concat([
    Buffer.from(`stand-in ${SENTINEL}`),
    Buffer.from([1, states.length]),
    Buffer.from(states),
    Buffer.alloc(64),
  ]);
}

function plist(values: Readonly<Record<string, string>>): string {
  const entries = Object.entries(values).map(([key, value]) => `<key>${key}</key><string>${value}</string>`);
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>${entries.join("")}</dict></plist>
`;
}

/** Writes the distribution for a platform into `folder`. `states` are those of the fuses, one character each. */
export function writeStandIn(folder: string, platform: "mac" | "linux", version: string, states = "110011001"): void {
  const write = (name: string, body: string | Buffer = ""): void => {
    const file = path.join(folder, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, body, { mode: 0o755 });
  };
  for (const name of ["LICENSE", "LICENSES.chromium.html"]) write(name);
  write("version", version);
  if (platform === "linux") {
    write("electron", binary(states));
    for (const name of ["chrome-sandbox", "chrome_crashpad_handler", "locales/en-US.pak", "resources/.keep"])
      write(name);
    return;
  }
  const app = "Electron.app/Contents";
  write(`${app}/MacOS/Electron`, "stand-in");
  write(`${app}/PkgInfo`, "APPL????");
  write(`${app}/Resources/electron.icns`);
  write(`${app}/Resources/en.lproj/locale.pak`);
  const info = { CFBundlePackageType: "APPL", LSMinimumSystemVersion: "13.0" };
  write(
    `${app}/Info.plist`,
    plist({
      ...info,
      CFBundleExecutable: "Electron",
      CFBundleIdentifier: "com.github.Electron",
      CFBundleName: "Electron",
    }),
  );
  write(`${app}/Frameworks/Electron Framework.framework/Electron Framework`, binary(states));
  for (const kind of ["", " (GPU)", " (Plugin)", " (Renderer)"]) {
    const name = `Electron Helper${kind}`;
    const helper = { ...info, CFBundleExecutable: name, CFBundleIdentifier: "com.github.Electron.helper" };
    write(`${app}/Frameworks/${name}.app/Contents/MacOS/${name}`, "stand-in");
    write(`${app}/Frameworks/${name}.app/Contents/Info.plist`, plist({ ...helper, CFBundleName: name }));
  }
}
