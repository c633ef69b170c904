/** What the worker thread runs that draws PDFs. Input and result are plain values, which can be cloned between threads. */
import type { PageModel } from "./page-model.ts";
import { pdfOf } from "./pdf-page.ts";

export const drawPdf = (model: PageModel): Promise<Uint8Array> => pdfOf(model);
