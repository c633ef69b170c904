/**
 * The people of the built-in identity provider: a short list, kept in a JSON file where one is named. A person's `sub`
 * never changes and says nothing about them; one e-mail address is one person.
 */
import { open, readFile, rename, rm, stat } from "node:fs/promises";
import * as z from "zod";
import type { Random } from "../../src/base/clock.ts";

export interface Person {
  /** The subject identifier: 26 random characters, never the e-mail address. */
  readonly sub: string;
  readonly email: string;
  readonly name: string;
  /** Signs in with a second factor. */
  readonly secondFactor: boolean;
}

export interface People {
  /** In the order in which they were added. */
  all(): readonly Person[];
  bySub(sub: string): Person | undefined;
  /** Upper and lower case are the same. */
  byEmail(email: string): Person | undefined;
  /**
   * Adds a person, or changes name and second factor of the one with this e-mail address; it is in the file when the
   * promise resolves. Resolves to undefined when the list is full.
   * @throws where the file cannot be written; the list is then as it was
   */
  put(fields: PersonFields): Promise<Person | undefined>;
  /** Removes a person, if there is one; they are gone from the file when the promise resolves. */
  remove(sub: string): Promise<void>;
  /** Resolves when no change is under way. */
  saved(): Promise<void>;
}

/** The longest address in a path that SMTP allows: RFC 5321, section 4.5.3.1.3. */
export const EMAIL_MAX_LENGTH = 254;
export const NAME_MAX_LENGTH = 200;
export const MAX_PEOPLE = 500;

/** More than 500 people of the greatest length need. */
const MAX_FILE_BYTES = 2_097_152;

export const personFields = z.object({
  email: z
    .string()
    .trim()
    .max(EMAIL_MAX_LENGTH, `The e-mail address has more than ${EMAIL_MAX_LENGTH} characters.`)
    .regex(z.regexes.html5Email, "This is not an e-mail address."),
  name: z
    .string()
    .trim()
    .min(1, "The name is empty.")
    .max(NAME_MAX_LENGTH, `The name has more than ${NAME_MAX_LENGTH} characters.`)
    .regex(/^\P{Cc}*$/u, "The name has control characters."),
  secondFactor: z.boolean(),
});

export type PersonFields = z.infer<typeof personFields>;

const fileSchema = z.object({
  version: z.literal(1),
  people: z
    .array(personFields.extend({ sub: z.string().regex(/^[\x21-\x7e]{1,255}$/) }))
    .max(MAX_PEOPLE)
    .refine(
      (people) =>
        new Set(people.map(({ sub }) => sub)).size === people.length &&
        new Set(people.map(({ email }) => email.toLowerCase())).size === people.length,
      "two people have the same sub or e-mail",
    ),
});

/**
 * @param file the JSON file; without it, the list is lost with the process. A file that is not there is an empty list.
 * @throws an Error that names the file, if it cannot be read or is damaged
 */
export async function openPeople(file: string | undefined, random: Random): Promise<People> {
  return new ListOfPeople(file === undefined ? [] : await readPeople(file), file, random);
}

class ListOfPeople implements People {
  #people: readonly Person[];
  readonly #file: string | undefined;
  readonly #random: Random;
  /** Changes happen one after another, so that none overwrites another's file. */
  #lastChange: Promise<unknown> = Promise.resolve();

  constructor(people: readonly Person[], file: string | undefined, random: Random) {
    this.#people = people;
    this.#file = file;
    this.#random = random;
  }

  all(): readonly Person[] {
    return this.#people;
  }

  bySub(sub: string): Person | undefined {
    return this.#people.find((person) => person.sub === sub);
  }

  byEmail(email: string): Person | undefined {
    const wanted = email.toLowerCase();
    return this.#people.find((person) => person.email.toLowerCase() === wanted);
  }

  put(fields: PersonFields): Promise<Person | undefined> {
    const change = this.#lastChange.then(() => this.#put(fields));
    this.#lastChange = change.catch(() => undefined);
    return change;
  }

  remove(sub: string): Promise<void> {
    const change = this.#lastChange.then(async () => {
      const people = this.#people.filter((person) => person.sub !== sub);
      if (people.length === this.#people.length) return;
      if (this.#file !== undefined) await writePeople(this.#file, people);
      this.#people = Object.freeze(people);
    });
    this.#lastChange = change.catch(() => undefined);
    return change;
  }

  async saved(): Promise<void> {
    await this.#lastChange;
  }

  async #put({ email, name, secondFactor }: PersonFields): Promise<Person | undefined> {
    const known = this.byEmail(email);
    if (known === undefined && this.#people.length >= MAX_PEOPLE) return undefined;
    const sub = known?.sub ?? newSub(this.#random);
    const person: Person = Object.freeze({ sub, email: known?.email ?? email, name, secondFactor });
    const people =
      known === undefined
        ? [...this.#people, person]
        : this.#people.map((other) => (other === known ? person : other));
    if (this.#file !== undefined) await writePeople(this.#file, people);
    this.#people = Object.freeze(people);
    return person;
  }
}

const SUB_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const SUB_CHARACTERS = 26;

/** 130 random bits. */
const newSub = (random: Random): string =>
  Array.from({ length: SUB_CHARACTERS }, () => SUB_ALPHABET[Math.floor(random() * 32)]).join("");

async function readPeople(file: string): Promise<readonly Person[]> {
  try {
    const { size } = await stat(file);
    if (size > MAX_FILE_BYTES) throw new Error(`it has ${size} bytes, more than ${MAX_FILE_BYTES}`);
    const read = fileSchema.safeParse(JSON.parse(await readFile(file, "utf8")));
    if (!read.success) throw new Error(z.prettifyError(read.error));
    return read.data.people.map((person) => Object.freeze(person));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return [];
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      `The people of the built-in identity provider cannot be read from ${file}: ${why}. ` +
        "Repair the file, or move it away to begin with an empty list (known people then get other identifiers).",
      { cause },
    );
  }
}

/** Whole or not at all, and durable; only this user can read it. */
async function writePeople(file: string, people: readonly Person[]): Promise<void> {
  const unfinished = `${file}.unfinished`;
  await rm(unfinished, { force: true });
  const handle = await open(unfinished, "wx", 0o600);
  try {
    await handle.writeFile(`${JSON.stringify({ version: 1, people }, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(unfinished, file);
}
