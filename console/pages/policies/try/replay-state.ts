/**
 * The replay of this tab: one at a time. It goes on while one looks at other pages, and its report is there when one comes back.
 */
import { signal } from "@preact/signals";
import { type Answer, ApiError, call } from "../../../api/call.ts";

export type Report = NonNullable<Answer<"dryRunPolicy">["replay"]>;

export interface AskedReplay {
  /** Slug of the org. */
  readonly org: string;
  readonly policy: string;
  /** Undefined: the one in force, else the newest. */
  readonly version: number | undefined;
  readonly hours: number;
  /** Empty: all projects. */
  readonly projectId: string;
}

export interface DoneReplay {
  readonly asked: AskedReplay;
  readonly report: Report;
  /** ISO 8601. */
  readonly endedAt: string;
}

/** What is replayed now, and since when. */
export const underWay = signal<{ readonly asked: AskedReplay; readonly since: string } | undefined>(
  undefined,
);
/** The last replay that was answered. */
export const lastReplay = signal<DoneReplay | undefined>(undefined);
/** Why the last one was not. */
export const replayFault = signal<{ readonly asked: AskedReplay; readonly fault: ApiError } | undefined>(
  undefined,
);

let asking: AbortController | undefined;

/** Nothing happens while another replay of this tab runs. */
export async function startReplay(asked: AskedReplay): Promise<void> {
  if (underWay.value !== undefined) return;
  const own = new AbortController();
  asking = own;
  underWay.value = { asked, since: new Date().toISOString() };
  replayFault.value = undefined;
  const { policy, version, hours, projectId } = asked;
  try {
    const { replay } = await call(
      "dryRunPolicy",
      {
        params: { name: policy },
        body: {
          ...(version !== undefined && { version }),
          replay: { hours, ...(projectId !== "" && { project_id: projectId }) },
        },
      },
      own.signal,
    );
    if (replay !== undefined && asking === own)
      lastReplay.value = { asked, report: replay, endedAt: new Date().toISOString() };
  } catch (error) {
    if (asking === own) replayFault.value = { asked, fault: faultOf(error) };
  } finally {
    if (asking === own) underWay.value = undefined;
  }
}

const faultOf = (error: unknown): ApiError =>
  error instanceof ApiError ? error : new ApiError(0, { message: String(error), code: "page" }, "");

/** The page waits no more. The gateway may go on for a while, and runs no other replay of the org meanwhile. */
export function stopWaiting(): void {
  asking?.abort();
  asking = undefined;
  underWay.value = undefined;
}
