/**
 * What the worker thread runs that draws documents: PDFs take some tenths of a second, pages with a QR code tens of milliseconds. Input and
 * result are plain values, which can be cloned between threads.
 */

import type { InvoiceRow } from "../invoice.ts";
import { htmlOf } from "./html.ts";
import { pageModel } from "./model.ts";
import { pdfOf } from "./pdf.ts";

export const drawPdf = (row: InvoiceRow): Promise<Uint8Array> => pdfOf(pageModel(row));
export const drawHtml = (row: InvoiceRow): string => htmlOf(pageModel(row));
