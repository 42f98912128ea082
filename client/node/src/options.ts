// What each method may be told. docs/api.md has the meaning of the fields.

import type {MethodDefinition} from '@grpc/proto-loader';

import type {AnswerRequestFields} from './generated/attend/v1/AnswerRequest.js';
import type {ClassifyRequestFields} from './generated/attend/v1/ClassifyRequest.js';
import type {DetokenizeRequestFields} from './generated/attend/v1/DetokenizeRequest.js';
import type {EmbedRequestFields} from './generated/attend/v1/EmbedRequest.js';
import type {FillMaskRequestFields} from './generated/attend/v1/FillMaskRequest.js';
import type {GenerateRequestFields} from './generated/attend/v1/GenerateRequest.js';
import type {GenerationParamsFields} from './generated/attend/v1/GenerationParams.js';
import type {RerankRequestFields} from './generated/attend/v1/RerankRequest.js';
import type {ScoreRequestFields} from './generated/attend/v1/ScoreRequest.js';
import type {TokenizeRequestFields} from './generated/attend/v1/TokenizeRequest.js';
import type {TranslateRequestFields} from './generated/attend/v1/TranslateRequest.js';
import {fieldsOf, paramsFields} from './protos.js';

/** Of every method. */
export interface CallOptions {
  /** Seconds, all attempts together; null: no limit. */
  timeout?: number | null;
  /** Cancels the call. */
  signal?: AbortSignal;
  /** More of it, as x-request-id. */
  metadata?: Record<string, string>;
  /** W3C's. Default: OpenTelemetry's current span. */
  traceparent?: string;
}

export type GenerateOptions = CallOptions & GenerationParamsFields &
    Omit<GenerateRequestFields, 'inputs' | 'params'>;
/** `glossary`: terms and their translations. */
export type TranslateOptions = CallOptions & GenerationParamsFields &
    Omit<TranslateRequestFields, 'documents' | 'params' | 'glossary'> &
    {glossary?: Record<string, string>};
export type ScoreOptions = CallOptions & Omit<ScoreRequestFields, 'pairs'>;
export type EmbedOptions = CallOptions &
    Omit<EmbedRequestFields, 'inputs' | 'perToken' | 'encoding'>;
export type ClassifyOptions = CallOptions & Omit<ClassifyRequestFields, 'inputs'>;
export type AnswerOptions = CallOptions & Omit<AnswerRequestFields, 'questions'>;
export type FillMaskOptions = CallOptions & Omit<FillMaskRequestFields, 'inputs'>;
export type RerankOptions = CallOptions &
    Omit<RerankRequestFields, 'query' | 'documents'>;
export type TokenizeOptions = CallOptions & Omit<TokenizeRequestFields, 'texts'>;
export type DetokenizeOptions = CallOptions &
    Omit<DetokenizeRequestFields, 'sequences'>;

const OWN = new Set(['timeout', 'signal', 'metadata', 'traceparent']);

/** The request of options: fields of the request, and fields of its params. */
export function requestOf(name: string, method: MethodDefinition<object, object>,
                          options: object): Record<string, unknown> {
  const known = fieldsOf(method.requestType);
  const request: Record<string, unknown> = {};
  const params: Record<string, unknown> = {};
  for (const [option, value] of Object.entries(options)) {
    if (OWN.has(option) || value === undefined) continue;
    if (known.has(option) && option !== 'params') request[option] = value;
    else if (known.has('params') && paramsFields.has(option)) {
      params[option] = value;
    } else throw new TypeError(`${name} has no option '${option}'`);
  }
  if (Object.keys(params).length > 0) request.params = params;
  return request;
}

/** The glossary as the API has it. */
export function withTerms({glossary, ...options}: TranslateOptions): object {
  return glossary === undefined ? options : {
    ...options, glossary: Object.entries(glossary).map(
        ([source, target]) => ({source, target})),
  };
}
