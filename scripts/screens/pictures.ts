/** Pictures of views: where each goes, how large it is, and the ones that docs/console.md shows. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { VIEWS, type View } from "./views.ts";

export type Theme = "light" | "dark";

export interface Picture {
  readonly view: View;
  /** Pixels. */
  readonly width: number;
  readonly theme: Theme;
  /** The page down to its end; otherwise what a window shows. */
  readonly isWhole: boolean;
  /** Its ending is `png` or `webp`. */
  readonly path: string;
}

export const FOLDER_OF_DOCS = join(import.meta.dirname, "../../docs/pictures/console");

const OF_DOCS: readonly (readonly [name: string, width: number, theme: Theme])[] = [
  ["overview", 1280, "light"],
  ["overview", 390, "dark"],
  ["requests", 1280, "light"],
  ["request-fallback", 1280, "light"],
  ["live", 1280, "dark"],
  ["live-call", 1280, "light"],
  ["playground-answered", 1280, "light"],
  ["setup", 1280, "light"],
  ["models", 1280, "light"],
  ["model", 1280, "dark"],
  ["policy-edit-problem", 1280, "light"],
  ["policy-compared", 1280, "light"],
  ["keys", 1280, "light"],
  ["credits", 1280, "light"],
  ["webhook-delivery", 1280, "light"],
  ["palette", 1280, "dark"],
];

const HEIGHTS: Readonly<Record<number, number>> = { 390: 844, 1280: 800, 2560: 1300 };
/** Pixels of a window of this width. */
export const heightOf = (width: number): number => HEIGHTS[width] ?? 800;

const fileName = (name: string, width: number, theme: Theme, ending: string): string =>
  `${name}-${width}-${theme}.${ending}`;

export const picturesOfDocs = (): readonly Picture[] =>
  OF_DOCS.map(([name, width, theme]) => {
    const view = VIEWS.find((each) => each.name === name);
    if (view === undefined) throw new Error(`there is no view ${name}`);
    const path = join(FOLDER_OF_DOCS, fileName(name, width, theme, "webp"));
    return { view, width, theme, isWhole: false, path };
  });

/** A picture of each view at each width in each theme. */
export const picturesOf = (
  views: readonly View[],
  widths: readonly number[],
  themes: readonly Theme[],
  folder: string,
): readonly Picture[] =>
  widths.flatMap((width) =>
    themes.flatMap((theme) =>
      views.map((view) => ({
        view,
        width,
        theme,
        // A menu or a dialog is over what the window shows.
        isWhole: view.press === undefined && view.click === undefined,
        path: join(folder, fileName(view.name, width, theme, "png")),
      })),
    ),
  );

const FRAME = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))";

/** Takes a picture of what the page shows. */
export async function take(page: Page, { width, isWhole, path }: Picture): Promise<void> {
  if (isWhole) {
    // A window as high as its page: what is drawn only where it is seen is drawn, and the navigation reaches to the end.
    const height = await page.evaluate<number>("document.documentElement.scrollHeight");
    await page.setViewportSize({ width, height: Math.max(height, heightOf(width)) });
  }
  await page.evaluate(FRAME);
  if (path.endsWith(".png")) await page.screenshot({ path });
  else await writeFile(path, await webpOf(page));
  if (isWhole) await page.setViewportSize({ width, height: heightOf(width) });
}

/** Percent: letters have clean edges, and a window takes some 40 KB. */
const QUALITY = 85;

async function webpOf(page: Page): Promise<Buffer> {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: QUALITY });
  await session.detach();
  return Buffer.from(data, "base64");
}
