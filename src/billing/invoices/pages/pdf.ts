/**
 * A document as PDF, drawn from the model of the page: A4, Noto Sans embedded as a subset, so that ₹ and Indian scripts print.
 * The same model gives the same bytes. Runs in a worker thread: drawing takes some tenths of a second.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import PDFDocument from "pdfkit";
import { encode } from "uqr";
import type { ColumnModel, Fact, PageModel } from "./model.ts";
import { fitsQr } from "./qr.ts";

const MARGIN = 48;
const WIDTH = 595.28 - 2 * MARGIN;
/** Nothing is drawn below, save the number of the page. */
const BOTTOM = 841.89 - 60;
const GAP = 24;
const HALF = (WIDTH - GAP) / 2;
const GREY = "#555555";
const BLACK = "#1a1a1a";
const QR_POINTS = 140;
const CELL_GAP = 6;

let fonts: { readonly regular: Buffer; readonly bold: Buffer } | undefined;

/** Read once in a thread: 1.3 MB. */
function fontsOf() {
  const { resolve } = createRequire(import.meta.url);
  const read = (file: string) => readFileSync(resolve(`@expo-google-fonts/noto-sans/${file}`));
  fonts ??= {
    regular: read("400Regular/NotoSans_400Regular.ttf"),
    bold: read("700Bold/NotoSans_700Bold.ttf"),
  };
  return fonts;
}

export async function pdfOf(model: PageModel): Promise<Uint8Array> {
  const doc = new PDFDocument({
    size: "A4",
    margin: 0,
    bufferPages: true,
    lang: "en",
    displayTitle: true,
    pdfVersion: "1.7",
    info: {
      Title: `${model.title} ${model.number}`,
      Author: model.supplier.name,
      CreationDate: new Date(model.issuedAtMs),
    },
  });
  const chunks: Uint8Array[] = [];
  doc.on("data", (chunk: Uint8Array) => chunks.push(chunk));
  const ended = new Promise<void>((resolve, reject) => doc.once("end", resolve).once("error", reject));
  const { regular, bold } = fontsOf();
  doc.registerFont("regular", regular).registerFont("bold", bold);
  new Page(doc, model).draw();
  doc.end();
  await ended;
  return Buffer.concat(chunks);
}

interface TextStyle {
  readonly font?: "regular" | "bold";
  readonly size?: number;
  readonly color?: string;
  readonly align?: "left" | "right";
}

class Page {
  readonly #doc: PDFKit.PDFDocument;
  readonly #model: PageModel;
  #y = MARGIN;

  constructor(doc: PDFKit.PDFDocument, model: PageModel) {
    this.#doc = doc;
    this.#model = model;
  }

  draw(): void {
    const { title, supplier, facts, recipient, words, notes, registration } = this.#model;
    this.#y += this.#text(title, MARGIN, this.#y, WIDTH, { font: "bold", size: 18 }) + 14;
    const top = this.#y;
    const left = this.#party(supplier, top);
    const right = this.#facts(facts, MARGIN + HALF + GAP, top, HALF);
    this.#y = Math.max(left, right) + 14;
    this.#y = this.#party(recipient, this.#y) + 18;
    this.#table();
    this.#totals();
    this.#keep(Math.min(this.#closingHeight(), BOTTOM - MARGIN));
    this.#y += this.#text(words[0], MARGIN, this.#y, WIDTH, { size: 8, color: GREY });
    this.#y += this.#text(words[1], MARGIN, this.#y, WIDTH) + 8;
    for (const note of notes) this.#paragraph(note);
    if (registration !== undefined) this.#registration(registration.facts, registration.qr);
    this.#signature();
    this.#pageNumbers();
  }

  /** Draws at a place; @returns the height it took */
  #text(text: string, x: number, y: number, width: number, style: TextStyle = {}): number {
    const { font = "regular", size = 9.5, color = BLACK, align = "left" } = style;
    const doc = this.#doc.font(font).fontSize(size).fillColor(color);
    const height = doc.heightOfString(text, { width });
    doc.text(text, x, y, { width, align });
    return height;
  }

  #heightOf(text: string, width: number, { font = "regular", size = 9.5 }: TextStyle = {}): number {
    return this.#doc.font(font).fontSize(size).heightOfString(text, { width });
  }

  /** Begins a page where so much does not fit any more. @returns whether it did */
  #keep(height: number): boolean {
    if (this.#y + height <= BOTTOM) return false;
    this.#doc.addPage();
    this.#y = MARGIN;
    return true;
  }

  #rule(y: number, width: number, color: string, x = MARGIN): void {
    this.#doc
      .moveTo(x, y)
      .lineTo(x + WIDTH - (x - MARGIN), y)
      .lineWidth(width)
      .strokeColor(color)
      .stroke();
  }

  /** @returns where it ends */
  #party({ heading, name, lines }: PageModel["supplier"], top: number): number {
    let y = top;
    y += this.#text(heading, MARGIN, y, HALF, { size: 8, color: GREY });
    y += this.#text(name, MARGIN, y, HALF, { font: "bold", size: 10.5 }) + 1;
    for (const line of lines) y += this.#text(line, MARGIN, y, HALF);
    return y;
  }

  /** @returns where it ends */
  #facts(facts: readonly Fact[], x: number, top: number, width: number): number {
    const names = 98;
    let y = top;
    for (const [name, value] of facts) {
      const nameHeight = this.#text(name, x, y, names - 6, { color: GREY });
      y += Math.max(nameHeight, this.#text(value, x + names, y, width - names)) + 1.5;
    }
    return y;
  }

  #table(): void {
    const { columns, rows } = this.#model;
    this.#tableHead();
    for (const row of rows) {
      const height = Math.max(...row.map((text, at) => this.#heightOf(text, cellWidth(columns[at]))));
      if (this.#keep(height + 10)) this.#tableHead();
      this.#cells(row, "regular");
      this.#y += height + 4;
      this.#rule(this.#y, 0.5, "#cccccc");
      this.#y += 4;
    }
  }

  #tableHead(): void {
    this.#keep(60);
    this.#cells(
      this.#model.columns.map(({ title }) => title),
      "bold",
    );
    this.#y += this.#heightOf("X", WIDTH, { font: "bold" }) + 3;
    this.#rule(this.#y, 1, BLACK);
    this.#y += 5;
  }

  #cells(texts: readonly string[], font: "regular" | "bold"): void {
    let x = MARGIN;
    for (const [at, column] of this.#model.columns.entries()) {
      const align = column.isNumber ? "right" : "left";
      // Numbers end at the right edge of their column, texts begin at its left one.
      const from = column.isNumber ? x + CELL_GAP : x;
      this.#text(texts[at] ?? "", from, this.#y, cellWidth(column), { font, align });
      x += columnWidth(column);
    }
  }

  #totals(): void {
    const { totals } = this.#model;
    const x = MARGIN + WIDTH * 0.45;
    const names = WIDTH * 0.27;
    const values = WIDTH * 0.28;
    this.#keep(Math.min(totals.length, 6) * 19);
    this.#y += 4;
    for (const { name, value, isStrong } of totals) {
      const style: TextStyle = isStrong ? { font: "bold", size: 11 } : {};
      this.#keep(24);
      if (isStrong) {
        this.#rule(this.#y, 1, BLACK, x);
        this.#y += 4;
      }
      const height = this.#text(name, x, this.#y, names, style);
      this.#text(value, x + names, this.#y, values, { ...style, align: "right" });
      this.#y += height + 3;
      if (isStrong) {
        this.#rule(this.#y, 1, BLACK, x);
        this.#y += 5;
      }
    }
    this.#y += 10;
  }

  /** From the amount in words to the signature: it stays on one page, so that no page bears a signature alone. */
  #closingHeight(): number {
    const { words, notes, registration } = this.#model;
    const noteHeights = notes.map((note) => this.#heightOf(note, WIDTH, { size: 8.5 }) + 4);
    const registered = registration === undefined ? 0 : QR_POINTS + 16;
    return (
      this.#heightOf(words[1], WIDTH) + noteHeights.reduce((sum, height) => sum + height, registered + 76)
    );
  }

  #paragraph(text: string): void {
    const style = { size: 8.5 };
    this.#keep(this.#heightOf(text, WIDTH, style) + 4);
    this.#y += this.#text(text, MARGIN, this.#y, WIDTH, style) + 4;
  }

  #registration(facts: readonly Fact[], qr: string): void {
    const hasQr = fitsQr(qr);
    const height = hasQr ? QR_POINTS : 60;
    this.#y += 8;
    this.#keep(height + 8);
    const end = this.#facts(facts, MARGIN, this.#y, WIDTH - (hasQr ? QR_POINTS + GAP : 0));
    if (hasQr) this.#qr(qr, MARGIN + WIDTH - QR_POINTS, this.#y);
    this.#y = Math.max(end, hasQr ? this.#y + QR_POINTS : end) + 8;
  }

  /** One path of squares. */
  #qr(text: string, x: number, y: number): void {
    const { data, size } = encode(text, { border: 0, ecc: "L" });
    const unit = QR_POINTS / size;
    for (const [line, cells] of data.entries())
      for (const [at, isDark] of cells.entries())
        if (isDark) this.#doc.rect(x + at * unit, y + line * unit, unit, unit);
    this.#doc.fill(BLACK);
  }

  #signature(): void {
    this.#y += 14;
    this.#keep(40);
    for (const [at, line] of this.#model.signature.entries()) {
      const style: TextStyle = at === 0 ? { font: "bold" } : { size: 8.5, color: GREY };
      this.#y += this.#text(line, MARGIN, this.#y, WIDTH, style);
    }
  }

  /** Numbers the pages where there are several: with the number of the document, for loose sheets. */
  #pageNumbers(): void {
    const { count } = this.#doc.bufferedPageRange();
    if (count === 1) return;
    for (let at = 0; at < count; at++) {
      this.#doc.switchToPage(at);
      const text = `${this.#model.number}, page ${at + 1} of ${count}`;
      this.#text(text, MARGIN, BOTTOM + 20, WIDTH, { size: 8, color: GREY, align: "right" });
    }
  }
}

const columnWidth = ({ share }: Pick<ColumnModel, "share">): number => (WIDTH * share) / 100;
const cellWidth = (column: Pick<ColumnModel, "share"> | undefined): number =>
  column === undefined ? 0 : columnWidth(column) - CELL_GAP;
