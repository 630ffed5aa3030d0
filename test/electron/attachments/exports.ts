/** Exports in the forms that xctrace and Xcode write, made up for the tests. */

/** Columns of `metal-gpu-intervals`: mnemonic and engineering type. */
const INTERVALS = [
  ["start", "start-time"],
  ["duration", "duration"],
  ["channel-name", "gpu-channel-name"],
  ["frame-number", "gpu-frame-number"],
  ["start-latency", "duration"],
  ["event-depth", "metal-nesting-level"],
  ["event-label", "formatted-label"],
  ["state", "gpu-state"],
  ["process", "process"],
] as const;

export function schemaXml(name: string, columns: readonly (readonly [string, string])[]): string {
  const all = columns.map(
    ([mnemonic, type]) =>
      `<col><mnemonic>${mnemonic}</mnemonic><name>${mnemonic}</name><engineering-type>${type}</engineering-type></col>`,
  );
  return `<schema name="${name}">${all.join("")}</schema>`;
}

export function exportXml(...nodes: readonly string[]): string {
  const all = nodes.map(
    (node, index) => `<node xpath='//trace-toc[1]/run[1]/data[1]/table[${index + 1}]'>${node}</node>`,
  );
  return `<?xml version="1.0"?>\n<trace-query-result>\n${all.join("\n")}\n</trace-query-result>\n`;
}

/** Three intervals of two encoders of one process, values shared by id and ref as xctrace does. */
export const INTERVAL_ROWS = [
  '<row><start-time id="1" fmt="00:00.100.000">100000000</start-time><duration id="2" fmt="13.83 µs">13830</duration>',
  '<gpu-channel-name id="3" fmt="Compute">Compute</gpu-channel-name><gpu-frame-number id="4" fmt="Frame 1">1</gpu-frame-number>',
  '<duration id="5" fmt="6.33 ms">6330000</duration><metal-nesting-level id="6" fmt="0">0</metal-nesting-level>',
  '<formatted-label id="7" fmt="Command Buffer 0:partial     ( node (42) )  0x4e18">',
  '<string id="8" fmt="Command Buffer 0:partial">Command Buffer 0:partial</string>',
  '<process id="9" fmt="node (42)"><pid id="10" fmt="42">42</pid></process></formatted-label>',
  '<gpu-state id="11" fmt="Active">Active</gpu-state><process ref="9"/></row>\n',
  '<row><start-time id="12" fmt="00:00.200.000">200000000</start-time><duration ref="5"/>',
  '<gpu-channel-name ref="3"/><sentinel/><duration ref="2"/><metal-nesting-level ref="6"/><formatted-label ref="7"/>',
  '<gpu-state ref="11"/><process ref="9"/></row>\n',
  '<row><start-time id="13" fmt="00:00.300.000">300000000</start-time><duration id="14" fmt="2.00 µs">2000</duration>',
  '<gpu-channel-name ref="3"/><sentinel/><sentinel/><metal-nesting-level ref="6"/>',
  '<formatted-label id="15" fmt="merge ( node (42) )"><string id="16" fmt="merge">merge</string><process ref="9"/></formatted-label>',
  '<gpu-state ref="11"/><process ref="9"/></row>\n',
].join("");

export const INTERVALS_XML = exportXml(schemaXml("metal-gpu-intervals", INTERVALS) + INTERVAL_ROWS);

/** An export of intervals with rows of one's own. */
export function intervalsOf(rows: string): string {
  return exportXml(schemaXml("metal-gpu-intervals", INTERVALS) + rows);
}

/** The header of the whole Counters tab with a name twice, as Xcode writes it, and two encoders. */
export const COUNTERS_CSV = [
  'Index,Encoder FunctionIndex,CommandBuffer Label,Encoder Label,,"ALU Utilization","Depth Load Utilization","Depth Load Utilization","Kernel Invocations"',
  "1,546,Command Buffer 0 0x79ee51880,partial 0x79f00c8c0,,1.59,0.00,0.00,8058.00",
  "2,1501,Command Buffer 1 0x79ee51180,partial 0x79f00dfe0,,2.41,0.00,0.00,11297.00",
  "3,1502,Command Buffer 1 0x79ee51180,merge 0x79f00dfe1,,0.50,0.00,0.00,32.00",
  "",
].join("\n");

/** One list of the Counters tab, copied as text: units in the cells, a tab at the end of each line. */
export const COUNTERS_TEXT = [
  "Thumbnails\tName\tExecution Cost\tKernel Invocations\tBytes Read\t",
  "-\t546 partial 0x79f00c8c0\t3.520%\t8,058 \t2.21 MiB\t",
  "-\t1501 partial 0x79f00dfe0\t4.917%\t11,297 \t512 Bytes\t",
  "",
].join("\n");

/** A table of contents, with what it says of the recording. */
export const TOC_XML = `<?xml version="1.0"?>
<trace-toc>
  <run number="1">
    <info>
      <target>
        <device platform="macOS" model="Mac Studio" name="a Mac" os-version="26.4 (25E246)" uuid="0"/>
        <process type="launched" name="node" pid="42" arguments="secret"/>
        <environment><item key="SECRET" value="private"/></environment>
      </target>
      <summary>
        <start-date>2026-11-29T02:18:16.751+03:00</start-date>
        <duration>6.075493</duration>
        <instruments-version>27.2 (27B5019j)</instruments-version>
        <template-name>Metal System Trace</template-name>
      </summary>
    </info>
    <data>
      <table schema="metal-gpu-intervals" target-pid="SINGLE" documentation="Denotes an interesting period"/>
      <table schema="tick" frequency="10"/>
    </data>
  </run>
</trace-toc>
`;
