/**
 * A device: its profile with how each value is known, what it offers to attention kernels, the chips there are, the budget of
 * its memory, and the machine that everything runs on. Every device of the machine can be looked at, and every chip emulated.
 */
import type { ReactElement } from "react";
import { workingSetOf } from "../../../electron/device/working_set.ts";
import { DeviceSelect } from "../../parts/device_select.tsx";
import { FailureNote } from "../../parts/failure.tsx";
import { Pane, PaneHead } from "../../parts/pane.tsx";
import { Panes } from "../../parts/panes.tsx";
import { Segments } from "../../parts/segments.tsx";
import { StandingTag, standingOf } from "../../parts/standing.tsx";
import { useViewCommand } from "../../shell/command.ts";
import { useTrail } from "../../shell/top_bar.tsx";
import { choiceOf, choiceWords, chosenProfile, type Profile, paramsOf } from "../../state/device_choice.ts";
import { type FailureView, useAnswer } from "../../state/session.ts";
import { setParams, useView } from "../../state/view.ts";
import { askedOf } from "./asked.ts";
import { BudgetPane } from "./budget_pane.tsx";
import { ChipsTable, saveChips } from "./chips_table.tsx";
import { DevicesList } from "./devices_list.tsx";
import { type Feature, FeaturesTable, featuresMeta, saveFeatures } from "./features_table.tsx";
import { MachinePane } from "./machine_pane.tsx";
import { ProfileTable } from "./profile_table.tsx";
import { useWide } from "./use_wide.ts";
import type { Chip } from "./words.ts";
import "../../styles/device.css";

const TABLES = ["profile", "features", "chips"] as const;
type TableId = (typeof TABLES)[number];

const TABLE_WORDS: Readonly<Record<TableId, string>> = {
  profile: "Profile",
  features: "Capabilities",
  chips: "Chips",
};

function Failed({ failure }: { readonly failure: FailureView }): ReactElement {
  return (
    <div className="inset">
      <FailureNote failure={failure} />
    </div>
  );
}

interface TableProps {
  readonly table: TableId;
  readonly profile: Profile | undefined;
  readonly features: readonly Feature[];
  readonly chips: readonly Chip[];
  readonly open: string | undefined;
}

function Table({ table, profile, features, chips, open }: TableProps): ReactElement | null {
  const current = profile?.chip.value.replace(/^Apple /, "");
  switch (table) {
    case "profile":
      return profile === undefined ? null : (
        <ProfileTable profile={profile} chip={chips.find(({ shortName }) => shortName === current)} />
      );
    case "features":
      return <FeaturesTable features={features} open={open} />;
    case "chips":
      return <ChipsTable chips={chips} current={current} />;
  }
}

export function DevicePage(): ReactElement {
  const { params } = useView();
  const choice = choiceOf(params);
  const wide = useWide();
  const answer = useAnswer("devices.list", { chip: choice.chip });
  const chipList = useAnswer("chips.list", {});
  const info = useAnswer("app.info", {});
  const featureList = useAnswer("device.features", choice);
  useViewCommand(["lockstep", "devices", ...choiceWords(choice)]);
  const devices = answer.state === "there" ? answer.value.devices : [];
  const profile = chosenProfile(devices, choice);
  useTrail("Device", profile?.id ?? "none");
  const select = (
    <span className="row small t2">
      Show
      <DeviceSelect
        label="Device to show"
        devices={devices}
        choice={choice}
        onChoose={(next) => setParams({ ...paramsOf(next), feature: null })}
      />
    </span>
  );
  const tag = profile === undefined ? null : <StandingTag standing={standingOf(profile.execution, profile)} />;
  const reported = profile === undefined ? null : workingSetOf(profile);
  const asked = askedOf(params, reported, info.state === "there" ? info.value.memoryBytes : null);
  const chips = chipList.state === "there" ? chipList.value.chips : [];
  const features = featureList.state === "there" ? featureList.value.features : [];
  const shown = TABLES.find((id) => id === params.show) ?? (wide ? "features" : "profile");
  const table = wide && shown === "profile" ? "features" : shown;
  const choices: readonly TableId[] = wide ? ["features", "chips"] : TABLES;
  const failure = [answer, featureList, chipList].flatMap((one) => (one.state === "failed" ? [one.failure] : []))[0];
  const common = { profile, features, chips, open: params.feature };

  const csv =
    table === "features" ? (
      <button
        type="button"
        className="btn quiet"
        title="Save the table"
        onClick={() => saveFeatures(features, profile?.id ?? "none")}
      >
        CSV
      </button>
    ) : table === "chips" ? (
      <button type="button" className="btn quiet" title="Save the table" onClick={() => saveChips(chips)}>
        CSV
      </button>
    ) : null;
  const pick = (
    <Segments
      label="Table of the device"
      choices={choices}
      chosen={table}
      word={(choice) => TABLE_WORDS[choice]}
      onChoose={(choice) => setParams({ show: choice, feature: null })}
    />
  );

  return (
    <Panes
      page="device"
      rightLabel="Devices and machine"
      right={
        <Pane label="Devices and this machine" line className="scroll">
          <PaneHead title="Devices of this machine" meta="in order of preference" />
          <DevicesList devices={devices} shown={profile?.id} />
          <MachinePane />
        </Pane>
      }
    >
      <div className="device-rows">
        <div className="device-tables">
          {wide ? (
            <Pane label="Device">
              <PaneHead title={profile?.name.value ?? "Device"} meta={profile?.id}>
                {tag}
                {select}
              </PaneHead>
              {failure === undefined ? null : <Failed failure={failure} />}
              <Table {...common} table="profile" />
            </Pane>
          ) : null}
          <Pane label={TABLE_WORDS[table]} line={wide}>
            <PaneHead
              title={wide ? TABLE_WORDS[table] : (profile?.name.value ?? "Device")}
              meta={wide ? (table === "features" ? featuresMeta(features) : "public sources") : undefined}
            >
              {wide ? null : tag}
              {pick}
              {csv}
              {wide ? null : select}
            </PaneHead>
            {failure === undefined || wide ? null : <Failed failure={failure} />}
            <Table {...common} table={table} />
          </Pane>
        </div>
        <BudgetPane asked={asked} view={params.budget === "memory" ? "memory" : "parts"} />
      </div>
    </Panes>
  );
}
