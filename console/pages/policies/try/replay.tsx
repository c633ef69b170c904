/** A version over the calls that were recorded: what is asked is in the address, and a button runs it. */
import { useEffect, useState } from "preact/hooks";
import { useAnswer } from "../../../api/answers.ts";
import type { Answer } from "../../../api/call.ts";
import { query, setFilters } from "../../../app/router.ts";
import { mayCall, orgSlug } from "../../../app/session.ts";
import { Button } from "../../../parts/button.tsx";
import { Choice, TextField } from "../../../parts/field.tsx";
import { Note } from "../../../parts/note.tsx";
import { Page, Panel } from "../../../parts/panel.tsx";
import { Tabs } from "../../../parts/tabs.tsx";
import { PolicyTabs } from "../policy-tabs.tsx";
import type { PolicyProps } from "./policy-props.ts";
import { ReplayReport } from "./replay-report.tsx";
import {
  type AskedReplay,
  lastReplay,
  replayFault,
  startReplay,
  stopWaiting,
  underWay,
} from "./replay-state.ts";
import { faultText, hoursOf, MOST_HOURS, RANGES, rangeOf, rangeText } from "./replay-words.ts";

type Project = Answer<"listProjects">["data"][number];
type Version = Answer<"listPolicyVersions">["data"][number];

export function ReplayPage({ name, version }: PolicyProps) {
  const projects = useAnswer("listProjects", mayCall("listProjects") ? {} : undefined);
  const versions = useAnswer("listPolicyVersions", { params: { name } });
  const asked: AskedReplay = {
    org: orgSlug.value,
    policy: name,
    version,
    hours: hoursOf(query.value.get("hours") ?? ""),
    projectId: query.value.get("project") ?? "",
  };
  const known = projects.value.value?.data ?? [];
  return (
    <Page
      title={`${name}: past calls`}
      about="Runs a version over the organisation's recorded calls, and compares with what happened. Nothing is called, nothing is billed."
    >
      <PolicyTabs name={name} current="replay" />
      <Panel title="What is replayed">
        <Form asked={asked} projects={known} versions={versions.value.value?.data ?? []} />
      </Panel>
      <Outcome asked={asked} projects={known} />
    </Page>
  );
}

interface FormProps {
  readonly asked: AskedReplay;
  readonly projects: readonly Project[];
  readonly versions: readonly Version[];
}

function Form({ asked, projects, versions }: FormProps) {
  const isBusy = underWay.value !== undefined;
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void startReplay(asked);
      }}
    >
      <Range hours={asked.hours} />
      <div class="columns">
        <Choice
          label="Version"
          value={asked.version === undefined ? "" : String(asked.version)}
          onValue={(version) => setFilters({ version })}
          options={versionOptions(versions, asked.version)}
        />
        <Choice
          label="Calls of"
          value={asked.projectId}
          onValue={(project) => setFilters({ project })}
          options={[
            ["", "All projects"],
            ...projects.map(({ id, name }) => [id, name] as const),
            ...(asked.projectId === "" || projects.some(({ id }) => id === asked.projectId)
              ? []
              : [[asked.projectId, asked.projectId] as const]),
          ]}
        />
      </div>
      <div class="row">
        <Button kind="main" type="submit" disabled={isBusy}>
          Replay {rangeText(asked.hours)}
        </Button>
        <span class="quiet small">It may take seconds; very many calls, up to a minute.</span>
      </div>
    </form>
  );
}

/** Hours of one's own stay in the field until they are a number that may be asked. */
function Range({ hours }: { readonly hours: number }) {
  const [isOwn, setOwn] = useState(rangeOf(hours) === "other");
  const [text, setText] = useState(String(hours));
  useEffect(() => {
    if (hoursOf(text) !== hours) setText(String(hours));
  }, [hours]);
  const isFine = String(hoursOf(text)) === text;
  return (
    <>
      <Tabs
        label="Range"
        options={RANGES}
        value={isOwn ? "other" : rangeOf(hours)}
        onValue={(range) => {
          setOwn(range === "other");
          if (range !== "other") setFilters({ hours: range });
        }}
      />
      {isOwn && (
        <div class="trial-hours">
          <TextField
            label="Hours back"
            value={text}
            inputMode="numeric"
            onValue={(next) => {
              setText(next);
              if (String(hoursOf(next)) === next) setFilters({ hours: next });
            }}
            fault={isFine ? undefined : `A whole number from 1 to ${MOST_HOURS}.`}
          />
        </div>
      )}
    </>
  );
}

function versionOptions(versions: readonly Version[], chosen: number | undefined) {
  const numbers = new Set(versions.map(({ version }) => version));
  return [
    ["", "The one in force, else the newest"] as const,
    ...versions.map(
      ({ version, status }) => [String(version), `Version ${version}, ${STATES[status]}`] as const,
    ),
    ...(chosen === undefined || numbers.has(chosen) ? [] : [[String(chosen), `Version ${chosen}`] as const]),
  ];
}

const STATES: Readonly<Record<Version["status"], string>> = {
  draft: "never in force",
  active: "in force",
  retired: "was in force",
};

/** What runs, or the last report of this policy: also of a replay that was left to look at other pages. */
function Outcome({
  asked,
  projects,
}: {
  readonly asked: AskedReplay;
  readonly projects: readonly Project[];
}) {
  const isMine = (other: AskedReplay) => other.org === asked.org && other.policy === asked.policy;
  const running = underWay.value;
  const failed = replayFault.value;
  const done = lastReplay.value;
  return (
    <>
      {running !== undefined && (
        <div class="note" role="status">
          <p>
            {isMine(running.asked)
              ? `The replay of ${rangeText(running.asked.hours)} runs.`
              : `A replay of the policy ${running.asked.policy} runs; another one can be begun behind it.`}{" "}
            You may look at other pages meanwhile: its report is shown here when you come back, as long as
            this tab is open.
          </p>
          <div class="row">
            <Button onClick={stopWaiting}>Stop waiting</Button>
          </div>
        </div>
      )}
      {failed !== undefined && isMine(failed.asked) && (
        <div class="note" data-tone="bad" role="alert">
          <p class="break">{faultText(failed.fault)}</p>
          <div class="row">
            <Button onClick={() => void startReplay(failed.asked)}>Try again</Button>
          </div>
        </div>
      )}
      {done !== undefined && isMine(done.asked) && <Report done={done} asked={asked} projects={projects} />}
      {running === undefined && failed === undefined && (done === undefined || !isMine(done.asked)) && (
        <div class="empty">
          <p>Choose a range and a version, and replay: the flow of calls is drawn here.</p>
        </div>
      )}
    </>
  );
}

interface ReportProps {
  readonly done: NonNullable<(typeof lastReplay)["value"]>;
  readonly asked: AskedReplay;
  readonly projects: readonly Project[];
}

function Report({ done, asked, projects }: ReportProps) {
  const { projectId, hours, version } = done.asked;
  const isOther = projectId !== asked.projectId || hours !== asked.hours || version !== asked.version;
  const project =
    projectId === "" ? undefined : (projects.find(({ id }) => id === projectId)?.name ?? projectId);
  return (
    <>
      {isOther && <Note>What is shown is the replay before: the choice above has changed since.</Note>}
      <ReplayReport done={done} project={project} />
    </>
  );
}
