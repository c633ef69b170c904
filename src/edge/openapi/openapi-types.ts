/** Types of the OpenAPI document (3.1), limited to what this gateway uses. */
import type { z } from "zod";

export type Json = Record<string, unknown>;
export type Schema = z.core.JSONSchema.BaseSchema;

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query";
  readonly required: boolean;
  readonly schema: Schema;
  readonly description?: string;
}

/** Shapes of errors, by their names in `components`. */
export type ErrorSchemaName = "Error" | "MessagesError" | "ScimError";

export type Content = Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;

/** Credentials that are needed together, by the name of their scheme; what each must allow. */
export type SecurityRequirement = Readonly<Record<string, readonly string[]>>;

export interface OperationItem {
  readonly operationId: string;
  readonly summary: string;
  /** Who may call it. */
  readonly description: string;
  readonly tags: readonly string[];
  /** Alternatives; empty where no credential is needed. */
  readonly security: readonly SecurityRequirement[];
  readonly "x-svc-access": string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Answers;
}

/** By status. */
export type Answers = Readonly<
  Record<
    string,
    {
      readonly description: string;
      readonly headers?: Readonly<Record<string, ResponseHeader>>;
      readonly content?: Content;
    }
  >
>;

interface ResponseHeader {
  readonly description: string;
  readonly required: boolean;
  readonly schema: Schema;
}

/** A page for machines: no operation, no key. */
export interface PageItem {
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly answers: Readonly<
    Record<
      string,
      {
        readonly description: string;
        /** JSON of this shape; else `type`. */
        readonly schema?: z.ZodType;
        readonly type?: string;
        /** It is an error with the usual envelope. */
        readonly isError?: true;
      }
    >
  >;
}

export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description: string;
    readonly license: Json;
  };
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  /** By path, then by method in lower case. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationItem>>>>;
  /** What is posted to endpoints of orgs, by type of event. */
  readonly webhooks: Readonly<Record<string, { readonly post: OperationItem }>>;
  readonly components: Json;
}
