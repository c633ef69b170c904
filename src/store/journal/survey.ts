/**
 * Compares a journal folder with LMDB's progress: everything that a start, `weir check` and `weir recover` know about
 * it. Read-only. Only what a crash leaves is not a fault: an incomplete frame at the very end.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { onFile } from "../../base/file-errors.ts";
import { segmentName } from "./journal.ts";
import { frameNumber, isBlank, readSegment, type SegmentContent } from "./segment.ts";

/** How much of the journal LMDB has. */
export interface JournalProgress {
  /** Tables have all frames up to this one. */
  readonly applied: number;
  /** The same for log rows; never more than `applied`. */
  readonly kept: number;
  /**
   * The segment that was current when LMDB was brought so far: it and what follows it exist until a clean stop, which writes
   * 0. Undefined for a folder that a version before 2 of the journal's form wrote last.
   */
  readonly segment: number | undefined;
}

/** LMDB's row with its progress. */
export interface Progress extends JournalProgress {
  /** The folder was created with checksums, so a row without one is damaged. */
  readonly checked: boolean;
}

export interface Fault {
  /** The damaged file; for a missing file, its path. */
  readonly file: string;
  /** Offset in the file; undefined for a missing file or one that is not a journal. */
  readonly byte: number | undefined;
  /** Description, appended to "… is damaged at byte …: " or, without an offset, to the name of the file. */
  readonly what: string;
  /** Frames that are lost or unusable, as far as known; both inclusive. */
  readonly lost: { readonly from: number; readonly to: number } | undefined;
}

export const faultText = ({ file, byte, what }: Fault): string =>
  byte === undefined ? `${file} ${what}` : `${file} is damaged at byte ${byte}: ${what}`;

/** An incomplete frame. */
export interface TornTail {
  readonly file: string;
  readonly byte: number;
  readonly bytes: number;
}

export interface Survey {
  /** All files of the folder named like segments. */
  readonly files: readonly string[];
  /** Payloads from the oldest file on, without gaps, up to the first fault or the end. */
  readonly frames: readonly Buffer[];
  /** Readable frames after the first fault, in order; numbers may be missing. */
  readonly beyond: readonly Buffer[];
  readonly torn: TornTail | undefined;
  readonly faults: readonly Fault[];
  /** The highest segment number; 0 without segments. */
  readonly segment: number;
  /** The highest frame number found anywhere. */
  readonly reached: number;
}

export class JournalDamaged extends Error {
  constructor(survey: Survey, progress: Progress | undefined) {
    super(refusal(survey, progress));
  }
}

/** Describes the first fault, what it may cost, and what to do. */
function refusal({ faults, frames, reached }: Survey, progress: Progress | undefined): string {
  const [first, ...more] = faults;
  const applied = progress?.applied ?? 0;
  const readable = Math.max(applied, progress?.kept ?? 0, frames.at(-1)?.readDoubleLE(0) ?? 0);
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

/** `progress`: undefined where LMDB has recorded no journal yet. @throws Error of the disk. */
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
      const bytes = onFile(path, () => readFileSync(path));
      return { path, number: Number.parseInt(name, 10), bytes, content: readSegment(bytes) };
    });
}

/** A file that was created but never used holds no frame, and no other file refers to it. */
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
  /** The last file read, and the next file it names. */
  #last: File | undefined;
  /** The newest frame number so far, if known. */
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
    const last = this.#last;
    this.#last = file;
    this.#seen.add(number);
    if (content === undefined) {
      this.#faults.push({ file: path, byte: 0, what: "its head cannot be read", lost: undefined });
      return;
    }
    this.#link(last, file, content);
    for (const frame of content.frames) this.#take(frame, path);
    const { bad } = content;
    if (this.#isShort(file, content) || bad === undefined) return;
    this.#reached = Math.max(this.#reached, bad.reached);
    const newest = this.#newest ?? 0;
    if (bad.reached > newest) {
      const what = "later frames lie behind what cannot be read";
      const lost = { from: newest + 1, to: bad.reached };
      this.#faults.push({ file: path, byte: bad.byte, what, lost });
      this.#beyond.push(...bad.behind);
    } else this.#torn = { file: path, byte: bad.byte, bytes: bad.bytes };
  }

  /** A file must be the one that its predecessor names. */
  #link(last: File | undefined, file: File, content: SegmentContent): void {
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
      this.#faults.push({ file: last.path, byte, what: "it ends too early, a later file follows", lost });
    } else if (end.next !== file.number) this.#gone(end.next, lost);
    if (base !== undefined && lost !== undefined) this.#newest = base;
  }

  /** Version 1 truncated a torn file at the next start, so a file with a successor must be intact. */
  #tornInside(path: string): void {
    const what = "a later file follows what cannot be read";
    this.#faults.push({ file: path, byte: this.#torn?.byte, what, lost: undefined });
    this.#torn = undefined;
  }

  /** Missing frames between the newest one and this; undefined where there are none. */
  #between(base: number): { from: number; to: number } | undefined {
    const newest = this.#newest ?? base;
    return base > newest ? { from: newest + 1, to: base } : undefined;
  }

  /** The oldest file must begin no later than LMDB's progress. */
  #bottom({ path }: File, { head, frames }: SegmentContent): void {
    const [first] = frames;
    const begin = head?.base ?? (first === undefined ? 0 : frameNumber(first) - 1);
    const { kept } = this.#progress ?? { kept: 0 };
    if (this.#progress === undefined && head !== undefined && (frames.length > 0 || head.base > 0)) {
      const what = "holds frames, but weir.lmdb knows of no journal: it is not the one that belongs to it";
      this.#faults.push({ file: path, byte: undefined, what, lost: undefined });
    } else if (begin > kept) {
      const what = `it begins with frame ${begin + 1}, but weir.lmdb ends with ${kept}`;
      this.#faults.push({ file: path, byte: 0, what, lost: { from: kept + 1, to: begin } });
    }
  }

  #isShort({ path, bytes }: File, { head }: SegmentContent): boolean {
    if (head === undefined || bytes.length >= head.size) return false;
    const what = `it was cut short, it should have ${head.size} bytes`;
    this.#faults.push({ file: path, byte: bytes.length, what, lost: undefined });
    return true;
  }

  #take(frame: Buffer, file: string): void {
    const number = frameNumber(frame);
    this.#reached = Math.max(this.#reached, number);
    if (this.#newest !== undefined && number !== this.#newest + 1 && this.#faults.length === 0) {
      const what = `goes on with frame ${number} behind ${this.#newest}`;
      this.#faults.push({ file, byte: undefined, what, lost: this.#between(number - 1) });
    }
    this.#newest = number;
    if (this.#faults.length === 0) this.#frames.push(frame);
    else this.#beyond.push(frame);
  }

  #gone(number: number, lost: Fault["lost"]): void {
    const file = join(this.#folder, segmentName(number));
    this.#faults.push({ file, byte: undefined, what: "is gone", lost });
  }

  result(all: readonly File[]): Survey {
    const end = this.#last?.content?.end;
    if (end !== undefined) this.#gone(end.next, undefined);
    const needed = this.#progress?.segment ?? 0;
    if (needed > 0 && !this.#seen.has(needed)) this.#gone(needed, undefined);
    this.#top();
    if (needed === 0 && this.#progress?.segment === 0 && this.#reached <= this.#progress.applied) {
      // After a clean stop LMDB has everything, and a file may remain that was not removed in time.
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

  /** LMDB must not be ahead of the journal. */
  #top(): void {
    const applied = this.#progress?.applied ?? 0;
    const newest = this.#newest;
    if (this.#last === undefined || newest === undefined || newest >= applied) return;
    const byte = this.#torn?.byte;
    this.#torn = undefined;
    const what = `it ends with frame ${newest}, but weir.lmdb has come to frame ${applied}`;
    this.#faults.push({ file: this.#last.path, byte, what, lost: { from: newest + 1, to: applied } });
  }
}
