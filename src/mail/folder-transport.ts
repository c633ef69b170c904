/**
 * Writes mails as `.eml` files (RFC 5322) instead of sending them: for a gateway without an SMTP server. A file appears whole
 * or not at all, under the id of its job, so a try that is repeated replaces its file. Mails hold secrets: files are 0600.
 */
import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loadNodemailer, type MailTransport, type Message, nodemailerOptions } from "./message.ts";

const MOST_FILES = 1000;
/** Ids of jobs sort by time, and so do the names. */
const NAME = /^job_[0-9A-HJKMNP-TV-Z]{26}\.eml$/;

export class MailFolder implements MailTransport {
  readonly #folder: string;
  readonly #mostFiles: number;
  /** One trims at a time. */
  #trimmed: Promise<void> = Promise.resolve();

  constructor(dataDir: string, mostFiles = MOST_FILES) {
    this.#folder = join(dataDir, "mail");
    this.#mostFiles = mostFiles;
  }

  async send(message: Message): Promise<void> {
    const name = `${message.id}.eml`;
    if (!NAME.test(name)) throw new Error(`${message.id} is no name of a mail`);
    const text = await written(message);
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const draft = join(this.#folder, `${message.id}.part`);
    await writeFile(draft, text, { mode: 0o600 });
    // A draft that a killed process left may have another mode.
    await chmod(draft, 0o600);
    await rename(draft, join(this.#folder, name));
    const trimmed = this.#trimmed.then(() => this.#trim());
    this.#trimmed = trimmed.catch(() => {});
    await trimmed;
  }

  /** Newest first. */
  async names(): Promise<string[]> {
    try {
      return (await readdir(this.#folder))
        .filter((name) => NAME.test(name))
        .sort()
        .reverse();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw error;
    }
  }

  /** @param name one of `names` @returns undefined where there is no such mail */
  async read(name: string): Promise<Buffer | undefined> {
    if (!NAME.test(name)) return undefined;
    try {
      return await readFile(join(this.#folder, name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
  }

  /** Removes every mail: what an org was written stands in files that do not say whose they are. */
  async clear(): Promise<void> {
    for (const name of await this.names()) await rm(join(this.#folder, name), { force: true });
  }

  close(): void {}

  async #trim(): Promise<void> {
    for (const name of (await this.names()).slice(this.#mostFiles))
      await rm(join(this.#folder, name), { force: true });
  }
}

async function written(message: Message): Promise<Buffer> {
  const create = await loadNodemailer();
  const transporter = create({ streamTransport: true, buffer: true, newline: "windows" });
  const { message: text } = await transporter.sendMail(nodemailerOptions(message));
  if (!Buffer.isBuffer(text)) throw new Error("the mail was not written as a whole");
  return text;
}
