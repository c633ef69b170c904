/** Requests in canonical form, for the records: small bodies synchronously, large ones in a worker thread. */
import type { Canonical } from "../../analytics/requests/lookup-operations.ts";
import { canonicalRequest } from "../../wire/canonical.ts";
import type { FormatName } from "../../wire/format.ts";
import { FORMATS } from "../../wire/formats.ts";
import { LARGE_BODY_BYTES } from "../../wire/neutral/contract.ts";
import { fromThread, type ThreadResult } from "../../wire/thread.ts";
import type { WorkerThread } from "../../workers/thread.ts";

export const openCanonical =
  (thread: WorkerThread): Canonical =>
  async (dialectIn, bytes) => {
    if (!isFormat(dialectIn)) return undefined;
    if (bytes.length <= LARGE_BODY_BYTES) return canonicalRequest(dialectIn, bytes);
    const task = { format: dialectIn, bytes };
    return fromThread((await thread.run("canonicalInThread", task)) as ThreadResult<Canonicalised>);
  };

type Canonicalised = ReturnType<typeof canonicalRequest>;

/** A record of a later release may name an unknown format. */
const isFormat = (name: string): name is FormatName => Object.hasOwn(FORMATS, name);
