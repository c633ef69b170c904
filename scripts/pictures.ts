/**
 * The pictures of docs/pictures: each SVG is drawn from the text beside it, in the language of Graphviz, which runs as WebAssembly and so
 * draws the same everywhere. `npm run pictures` draws all; test/unit/docs/pictures.test.ts compares.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { instance } from "@viz-js/viz";

export const PICTURES = join(import.meta.dirname, "../docs/pictures");

/** The first line of a box is its name. Readers see a font of their own: boxes have room for wide ones. */
const STYLE =
  "<style>text { font-family: system-ui, sans-serif } .node text:first-of-type { font-weight: bold }</style>";
/** Pages may be dark. */
const GROUND = '<rect width="100%" height="100%" fill="white"/>';

const graphviz = await instance();

/** Names of the texts, without their ending. */
export const pictureNames = (): string[] =>
  readdirSync(PICTURES)
    .filter((name) => name.endsWith(".dot"))
    .map((name) => name.slice(0, -".dot".length))
    .sort();

/** The SVG of a text, with nothing that is loaded from elsewhere. @throws Error where Graphviz cannot read it */
export function drawn(text: string): string {
  const svg = graphviz.renderString(text, { format: "svg" });
  // What stands before it names the release of Graphviz, and a DTD by its address.
  const from = svg.indexOf("<svg");
  const inside = svg.indexOf(">", from) + 1;
  return `${svg.slice(from, inside)}\n${STYLE}\n${GROUND}${svg.slice(inside)}`;
}

export interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly isDashed: boolean;
}

/** What a text says is drawn: the boxes by their names in the text, and the arrows. @throws Error where Graphviz cannot read it */
export function readGraph(text: string): {
  readonly boxes: readonly string[];
  readonly arrows: readonly Arrow[];
} {
  const { objects = [], edges = [] } = JSON.parse(graphviz.renderString(text, { format: "json0" })) as Graph;
  const nameOf = (id: number): string => objects[id]?.name ?? "";
  return {
    boxes: objects.filter(({ nodes }) => nodes === undefined).map(({ name }) => name),
    arrows: edges
      .filter(({ style }) => style !== "invis")
      .map(({ tail, head, style }) => ({
        from: nameOf(tail),
        to: nameOf(head),
        isDashed: style === "dashed",
      })),
  };
}

/** https://graphviz.org/docs/outputs/json/ */
interface Graph {
  /** Groups, which have nodes, and nodes: the place in the list is the number by which edges name them. */
  readonly objects?: readonly { readonly name: string; readonly nodes?: readonly number[] }[];
  readonly edges?: readonly { readonly tail: number; readonly head: number; readonly style?: string }[];
}

export const textOf = (name: string): string => readFileSync(join(PICTURES, `${name}.dot`), "utf8");

export const fileOf = (name: string): string => join(PICTURES, `${name}.svg`);

if (process.argv[1] === import.meta.filename) {
  for (const name of pictureNames()) writeFileSync(fileOf(name), drawn(textOf(name)));
}
