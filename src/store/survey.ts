/**
 * What a journal's folder holds, against what LMDB says it should: all that a start, `weir check` and `weir recover` know of
 * it. It changes nothing. Only what a crash leaves is no fault: a frame at the very end that was not written to its end.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { segmentName } from "./journal.ts";
import { frameNumber, isBlank, readSegment, type SegmentContent } from "./segment.ts";

/** How far LMDB has what the journal holds. */
export interface Reached {
  /** Tables have all frames to this one. */
  readonly applied: number;
  /** The same for the rows of logs; never more than `applied`. */
  readonly kept: number;
  /**
   * The segment that was current when LMDB was brought so far: it and what follows it exist until a clean stop, which writes
   * 0. Undefined for a folder that a version before 2 of the journal's form wrote last.
   */
  readonly segment: number | undefined;
}

/** The row of LMDB that says so. */
export interface Progress extends Reached {
  /** The folder was made when rows had checksums already, so that a row without one is damaged. */
  readonly checked: boolean;
}

export interface Fault {
  /** The file that the fault is in; where one is gone, its path. */
  readonly file: string;
  /** Where in the file; undefined for a file that is gone or is none of a journal. */
  readonly byte: number | undefined;
  /** What the matter is: behind "… is damaged at byte …: ", and where there is no byte, behind the name of the file. */
  readonly what: string;
  /** Frames that are lost or cannot be used, as far as that is known; both inclusive. */
  readonly lost: { readonly from: number; readonly to: number } | undefined;
}

export const faultText = ({ file, byte, what }: Fault): string =>
  byte === undefined ? `${file} ${what}` : `${file} is damaged at byte ${byte}: ${what}`;

/** A frame that was not written to its end. */
export interface TornTail {
  readonly file: string;
  readonly byte: number;
  readonly bytes: number;
}

export interface Survey {
  /** Every file of the folder that looks like a segment. */
  readonly files: readonly string[];
  /** Payloads from the oldest file on, without gaps, to the first fault or the end. */
  readonly frames: readonly Buffer[];
  /** Readable frames behind the first fault, in their order; numbers may be missing between them. */
  readonly beyond: readonly Buffer[];
  readonly torn: TornTail | undefined;
  readonly faults: readonly Fault[];
  /** The highest number of a segment, 0 where there is none. */
  readonly segment: number;
  /** The highest number of a frame that anything names. */
  readonly reached: number;
}

export class JournalDamaged extends Error {
  constructor(survey: Survey, progress: Progress | undefined) {
    super(refusal(survey, progress));
  }
}

/** What the first fault is, what it may cost, and what to do. */
function refusal({ faults, frames, reached }: Survey, progress: Progress | undefined): string {
  const [first, ...more] = faults;
  const applied = progress?.applied ?? 0;
  const readable = Math.max(
    applied,
    progress?.kept ?? 0,
    frames.length > 0 ? (frames.at(-1)?.readDoubleLE(0) ?? 0) : 0,
  );
  const stake =
    reached > readable
      ? `frames ${readable + 1} to ${reached} hold ledger entries or records that may be lost`
      : "ledger entries or records may be lost";
  const others = more.length === 0 ? "" : ` (and ${more.length} more)`;
  return (
    `${first === undefined ? "" : faultText(first)}${others}; ${stake}. Nothing was changed. ` +
    `Restore the data folder from a backup, or see what "weir recover" would give up`
  );
}

interface File {
  readonly path: string;
  readonly number: number;
  readonly bytes: Buffer;
  readonly content: SegmentContent | undefined;
}

/** `progress`: undefined where LMDB knows of no journal yet. @throws Error of the disk. */
export function surveyJournal(folder: string, progress: Progress | undefined): Survey {
  const all = filesOf(folder);
  const survey = new Surveyor(folder, progress);
  const used = all.filter(({ bytes, content }) => content !== undefined || !isBlank(bytes));
  for (const file of withoutStrays(used, progress)) survey.read(file);
  return survey.result(all);
}

function filesOf(folder: string): File[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".journal"))
    .sort()
    .map((name) => {
      const path = join(folder, name);
      const bytes = readFileSync(path);
      return { path, number: Number.parseInt(name, 10), bytes, content: readSegment(bytes) };
    });
}

/** A file that was made and never came into use holds no frame, and nothing names it. */
function withoutStrays(files: readonly File[], progress: Progress | undefined): File[] {
  const named = new Set(files.map(({ content }) => content?.end?.next));
  return files.filter(({ number, content }) => {
    const empty = content !== undefined && content.frames.length === 0 && content.end === undefined;
    return !empty || content.bad !== undefined || named.has(number) || number === progress?.segment;
  });
}

class Surveyor {
  readonly #folder: string;
  readonly #progress: Progress | undefined;
  readonly #frames: Buffer[] = [];
  readonly #beyond: Buffer[] = [];
  readonly #faults: Fault[] = [];
  #torn: TornTail | undefined;
  /** The last file read, and what it says of the next. */
  #last: File | undefined;
  /** The newest frame so far, as far as it is known. */
  #newest: number | undefined;
  #reached: number;
  readonly #seen = new Set<number>();

  constructor(folder: string, progress: Progress | undefined) {
    this.#folder = folder;
    this.#progress = progress;
    this.#reached = progress?.applied ?? 0;
  }

  read(file: File): void {
    const { path, number, content } = file;
    this.#seen.add(number);
    if (content === undefined) {
      this.#fault({ file: path, byte: 0, what: "its head cannot be read", lost: undefined });
      this.#last = file;
      return;
    }
    this.#link(file, content);
    for (const frame of content.frames) this.#take(frame, path);
    const { bad } = content;
    if (this.#isShort(file, content)) {
      this.#last = file;
      return;
    }
    if (bad !== undefined) {
      this.#reached = Math.max(this.#reached, bad.reached);
      const newest = this.#newest ?? 0;
      if (bad.reached > newest) {
        const lost = { from: newest + 1, to: bad.reached };
        this.#fault({
          file: path,
          byte: bad.byte,
          what: "later frames lie behind what cannot be read",
          lost,
        });
        this.#beyond.push(...bad.behind);
      } else this.#torn = { file: path, byte: bad.byte, bytes: bad.bytes };
    }
    this.#last = file;
  }

  /** A file must be the one that the file before it names. */
  #link(file: File, content: SegmentContent): void {
    const last = this.#last;
    const base = content.head?.base;
    if (last === undefined) {
      if (base !== undefined) this.#newest = base;
      this.#bottom(file, content);
      return;
    }
    const end = last.content?.end;
    const isOld = content.version === 1 || last.content?.version === 1;
    if (last.content === undefined || isOld) {
      if (last.content !== undefined && this.#torn !== undefined) this.#tornInside(last.path);
      return;
    }
    const lost = base === undefined ? undefined : this.#between(base);
    if (end === undefined) {
      const byte = this.#torn?.byte ?? 0;
      this.#torn = undefined;
      this.#fault({ file: last.path, byte, what: "it ends too early, a later file follows", lost });
    } else if (end.next !== file.number) this.#gone(end.next, lost);
    if (base !== undefined && lost !== undefined) this.#newest = base;
  }

  /** Version 1 cut what was torn at the next start, so that a file with a later one behind it is whole. */
  #tornInside(path: string): void {
    this.#fault({
      file: path,
      byte: this.#torn?.byte,
      what: "a later file follows what cannot be read",
      lost: undefined,
    });
    this.#torn = undefined;
  }

  /** The frames between the newest one and this, where there are any. */
  #between(base: number): { from: number; to: number } | undefined {
    const newest = this.#newest ?? base;
    return base > newest ? { from: newest + 1, to: base } : undefined;
  }

  /** The oldest file begins no later than where LMDB ends. */
  #bottom({ path }: File, { head, frames }: SegmentContent): void {
    const [first] = frames;
    const begin = head?.base ?? (first === undefined ? 0 : frameNumber(first) - 1);
    const { kept } = this.#progress ?? { kept: 0 };
    if (this.#progress === undefined && head !== undefined && (frames.length > 0 || head.base > 0)) {
      const what = "holds frames, but weir.lmdb knows of no journal: it is not the one that belongs to it";
      this.#fault({ file: path, byte: undefined, what, lost: undefined });
    } else if (begin > kept) {
      const what = `it begins with frame ${begin + 1}, but weir.lmdb ends with ${kept}`;
      this.#fault({ file: path, byte: 0, what, lost: { from: kept + 1, to: begin } });
    }
  }

  #isShort({ path, bytes }: File, { head }: SegmentContent): boolean {
    if (head === undefined || bytes.length >= head.size) return false;
    const what = `it was cut short, it should have ${head.size} bytes`;
    this.#fault({ file: path, byte: bytes.length, what, lost: undefined });
    return true;
  }

  #take(frame: Buffer, file: string): void {
    const number = frameNumber(frame);
    this.#reached = Math.max(this.#reached, number);
    if (this.#newest !== undefined && number !== this.#newest + 1 && this.#faults.length === 0) {
      const what = `goes on with frame ${number} behind ${this.#newest}`;
      this.#fault({ file, byte: undefined, what, lost: this.#between(number - 1) });
    }
    this.#newest = number;
    if (this.#faults.length === 0) this.#frames.push(frame);
    else this.#beyond.push(frame);
  }

  #gone(number: number, lost: Fault["lost"]): void {
    const file = join(this.#folder, segmentName(number));
    this.#fault({ file, byte: undefined, what: "is gone", lost });
  }

  #fault(fault: Fault): void {
    this.#faults.push(fault);
  }

  result(all: readonly File[]): Survey {
    const end = this.#last?.content?.end;
    if (end !== undefined) this.#gone(end.next, undefined);
    const needed = this.#progress?.segment ?? 0;
    if (needed > 0 && !this.#seen.has(needed)) this.#gone(needed, undefined);
    this.#top();
    if (needed === 0 && this.#progress?.segment === 0 && this.#reached <= this.#progress.applied) {
      // A clean stop: LMDB has everything, and a file may be left that was not removed in time.
      this.#faults.length = 0;
      this.#torn = undefined;
    }
    return {
      files: all.map(({ path }) => path),
      frames: this.#frames,
      beyond: this.#beyond,
      torn: this.#torn,
      faults: this.#faults,
      segment: Math.max(0, ...all.map(({ number }) => number), needed),
      reached: this.#reached,
    };
  }

  /** LMDB has nothing that the journal does not reach. */
  #top(): void {
    const applied = this.#progress?.applied ?? 0;
    const newest = this.#newest;
    if (this.#last === undefined || newest === undefined || newest >= applied) return;
    const byte = this.#torn?.byte;
    this.#torn = undefined;
    const what = `it ends with frame ${newest}, but weir.lmdb has come to frame ${applied}`;
    this.#fault({ file: this.#last.path, byte, what, lost: { from: newest + 1, to: applied } });
  }
}
