import {isIP} from 'node:net';

import {Client as Channel, Metadata} from '@grpc/grpc-js';

import {affinityKey} from './affinity.js';
import {streamed, unary} from './call.js';
import type {Call, Method} from './call.js';
import {errorOfInput, readAll} from './errors.js';
import type {AnswerResponse} from './generated/attend/v1/AnswerResponse.js';
import type {AnswerResult} from './generated/attend/v1/AnswerResult.js';
import type {ClassifyResponse} from './generated/attend/v1/ClassifyResponse.js';
import type {ClassifyResult} from './generated/attend/v1/ClassifyResult.js';
import type {DetokenizeResponse} from './generated/attend/v1/DetokenizeResponse.js';
import type {EmbedResponse} from './generated/attend/v1/EmbedResponse.js';
import type {FillMaskResponse} from './generated/attend/v1/FillMaskResponse.js';
import type {FillMaskResult} from './generated/attend/v1/FillMaskResult.js';
import type {GenerateChunk} from './generated/attend/v1/GenerateChunk.js';
import type {GenerateResponse} from './generated/attend/v1/GenerateResponse.js';
import type {GenerateResult} from './generated/attend/v1/GenerateResult.js';
import type {ListModelsResponse} from './generated/attend/v1/ListModelsResponse.js';
import type {LoadModelResponse} from './generated/attend/v1/LoadModelResponse.js';
import type {Model} from './generated/attend/v1/Model.js';
import type {ProfileChunk} from './generated/attend/v1/ProfileChunk.js';
import type {QuestionFields} from './generated/attend/v1/Question.js';
import type {RerankResponse} from './generated/attend/v1/RerankResponse.js';
import type {RerankResult} from './generated/attend/v1/RerankResult.js';
import type {ScoreResponse} from './generated/attend/v1/ScoreResponse.js';
import type {ScoreResult} from './generated/attend/v1/ScoreResult.js';
import type {Tokenization} from './generated/attend/v1/Tokenization.js';
import type {TokenizeResponse} from './generated/attend/v1/TokenizeResponse.js';
import type {TranslateChunk} from './generated/attend/v1/TranslateChunk.js';
import type {TranslateResponse} from './generated/attend/v1/TranslateResponse.js';
import type {Translation} from './generated/attend/v1/Translation.js';
import {Budget} from './hedging.js';
import {inputOf, listOf} from './inputs.js';
import type {Input, Inputs} from './inputs.js';
import {requestOf, withTerms} from './options.js';
import type {
  AnswerOptions, CallOptions, ClassifyOptions, DetokenizeOptions, EmbedOptions,
  FillMaskOptions, GenerateOptions, RerankOptions, ScoreOptions, TokenizeOptions,
  TranslateOptions} from './options.js';
import {admin, attend, fieldsOf} from './protos.js';
import {withSeed} from './replay.js';
import {Servers} from './servers.js';
import {addressesOf, authorizationOf, securityOf} from './settings.js';
import type {ClientOptions} from './settings.js';
import {currentTrace} from './trace.js';
import {rowsOf} from './vectors.js';

/** Calls one or several servers of the same models. It connects when it is first
 * used; then close() lets the process end.
 *
 * Results are the messages of the API, in the order of the inputs. The methods
 * throw AttendError. */
export class Client {
  readonly #settings: ClientOptions;
  readonly #metadata: Record<string, string>;
  readonly #servers: Servers;
  readonly #budget = new Budget();

  /** `target` is HOST:PORT, or several in a list or with commas between; a name
   * may stand for several servers. Default: ATTEND_ADDRESS, else
   * localhost:50051. Of tls and token that are not given the variables ATTEND_TLS,
   * ATTEND_CA, ATTEND_CERT, ATTEND_KEY, ATTEND_SERVER_NAME and ATTEND_TOKEN are
   * read. */
  constructor(target?: string | string[], options: ClientOptions = {}) {
    this.#settings = options;
    this.#metadata = {...authorizationOf(options.token), ...options.metadata};
    const addresses = addressesOf(target);
    const {transport, serverName} = securityOf(options.tls);
    const [{host, port}] = addresses;
    const name = serverName ?? (isIP(host) ? undefined : host);
    this.#servers = new Servers(addresses, (address) => new Channel(
        address, transport, {
          'grpc.default_authority': isIP(host) === 6 ? `[${host}]:${port}` :
                                                       `${host}:${port}`,
          ...(name && {'grpc.ssl_target_name_override': name}),
          'grpc.enable_retries': 0,  // see Retry
          'grpc.initial_reconnect_backoff_ms': 100,
          'grpc.max_reconnect_backoff_ms': 5000,
          'grpc.max_receive_message_length': -1,
          'grpc.use_local_subchannel_pool': 1,
          // A server that does not answer a ping is given up, and its calls are
          // made again. A server takes a ping in 10 s (--min-ping-interval).
          'grpc.keepalive_time_ms': 12000,
          'grpc.keepalive_timeout_ms': 5000,
          ...options.channelOptions,
        }), options.healthChecks ?? true, (options.affinity ?? 0) > 0);
  }

  /** Ends the connections. */
  close(): void {
    this.#servers.close();
  }

  /** Continues texts, answers chats, or translates sentences. */
  async generate(inputs: Inputs, options: GenerateOptions = {}):
      Promise<GenerateResult[]> {
    const answer = await this.#unary<GenerateResponse>(
        'Generate', {inputs: listOf(inputs).map(inputOf)}, options);
    return readAll(answer.results, (result) => result);
  }

  /** Yields the text that generate() returns in parts, as they are computed.
   * Leaving the loop cancels the call. */
  stream(input: Input, options: GenerateOptions = {}): AsyncGenerator<string> {
    return this.#stream<GenerateChunk>(
        'GenerateStream', {inputs: [inputOf(input)]}, withSeed(options),
        (chunk) => {
          const error = errorOfInput(chunk, chunk.input);
          if (error) throw error;
          return chunk.choice === 0 ? chunk.text : '';
        });
  }

  /** Translates documents of any number of sentences: text, HTML, XML, Markdown. */
  async translate(documents: string | string[], options: TranslateOptions = {}):
      Promise<Translation[]> {
    const answer = await this.#unary<TranslateResponse>(
        'Translate', {documents: listOf(documents)}, withTerms(options));
    return readAll(answer.results, (result) => result);
  }

  /** Yields the translation of a document, sentence by sentence. */
  translateStream(document: string, options: TranslateOptions = {}):
      AsyncGenerator<string> {
    return this.#stream<TranslateChunk>(
        'TranslateStream', {documents: [document]}, withSeed(withTerms(options)),
        (chunk) => {
          const error = errorOfInput(chunk, chunk.document);
          if (error) throw error;
          return chunk.text;
        });
  }

  /** The log-probability of the second of each pair after the first. */
  async score(pairs: Array<[Input, Input]>, options: ScoreOptions = {}):
      Promise<ScoreResult[]> {
    const answer = await this.#unary<ScoreResponse>('Score', {
      pairs: pairs.map(([source, target]) =>
        ({source: inputOf(source), target: inputOf(target)})),
    }, options);
    return readAll(answer.results, (result) => result);
  }

  /** A vector of each input. */
  async embed(inputs: Inputs, options: EmbedOptions = {}):
      Promise<Float32Array[]> {
    const answer = await this.#embed(inputs, options, false);
    return readAll(answer.results, (result) => rowsOf(result)[0]);
  }

  /** The vectors of each input's tokens. */
  async embedTokens(inputs: Inputs, options: EmbedOptions = {}):
      Promise<Float32Array[][]> {
    const answer = await this.#embed(inputs, options, true);
    return readAll(answer.results, rowsOf);
  }

  #embed(inputs: Inputs, options: EmbedOptions, perToken: boolean) {
    return this.#unary<EmbedResponse>('Embed', {
      inputs: listOf(inputs).map(inputOf), perToken,
      encoding: 'EMBEDDING_FLOAT32',
    }, options);
  }

  /** Labels texts, pairs of texts, or the tokens of texts. */
  async classify(inputs: Inputs, options: ClassifyOptions = {}):
      Promise<ClassifyResult[]> {
    const answer = await this.#unary<ClassifyResponse>(
        'Classify', {inputs: listOf(inputs).map(inputOf)}, options);
    return readAll(answer.results, (result) => result);
  }

  /** Finds tokens for the masks in texts. */
  async fillMask(inputs: Inputs, options: FillMaskOptions = {}):
      Promise<FillMaskResult[]> {
    const answer = await this.#unary<FillMaskResponse>(
        'FillMask', {inputs: listOf(inputs).map(inputOf)}, options);
    return readAll(answer.results, (result) => result);
  }

  /** The answers to questions in texts, best first. */
  async answer(questions: QuestionFields[], options: AnswerOptions = {}):
      Promise<AnswerResult[]> {
    const answer = await this.#unary<AnswerResponse>(
        'Answer', {questions}, options);
    return readAll(answer.results, (result) => result);
  }

  /** Indices and scores of documents, those first that answer the query best. */
  async rerank(query: string, documents: string[], options: RerankOptions = {}):
      Promise<RerankResult[]> {
    const answer = await this.#unary<RerankResponse>(
        'Rerank', {query, documents}, options);
    return readAll(answer.results, (result) => result, ({index}) => index);
  }

  /** The token ids of texts, then of the option `chats`. */
  async tokenize(texts: string | string[], options: TokenizeOptions = {}):
      Promise<Tokenization[]> {
    const answer = await this.#unary<TokenizeResponse>(
        'Tokenize', {texts: listOf(texts)}, options);
    return readAll(answer.results, (result) => result);
  }

  /** The texts of lists of token ids. */
  async detokenize(sequences: number[][], options: DetokenizeOptions = {}):
      Promise<string[]> {
    const answer = await this.#unary<DetokenizeResponse>(
        'Detokenize', {sequences: sequences.map((ids) => ({ids}))}, options);
    return readAll(answer.results, ({text}) => text);
  }

  /** The models of the server, the default model first. */
  async models(options: CallOptions = {}): Promise<Model[]> {
    return (await this.#unary<ListModelsResponse>('ListModels', {}, options))
        .models;
  }

  /** A model of the server; without a name its default model. */
  model(name = '', options: CallOptions = {}): Promise<Model> {
    return this.#unary<Model>('GetModel', {name}, options);
  }

  /** Loads a model, or loads it anew; `version` 0: the highest. Needs a server
   * with --model-control=explicit, and time: see `timeout`. */
  async loadModel(name: string, version = 0, options: CallOptions = {}):
      Promise<Model> {
    const answer = await this.#unary<LoadModelResponse>(
        'LoadModel', {name, version}, options, admin);
    return answer.model!;
  }

  /** Takes a model out of service. Calls that run go on. */
  async unloadModel(name: string, options: CallOptions = {}): Promise<void> {
    await this.#unary('UnloadModel', {name}, options, admin);
  }

  /** Lets calls of a name go to models, {model: weight}; no targets: the name is no
   * alias any more. */
  async setAlias(name: string, targets: Record<string, number>,
                 options: CallOptions = {}): Promise<void> {
    await this.#unary('SetAlias', {
      name, targets: Object.entries(targets).map(
          ([model, weight]) => ({model, weight})),
    }, options, admin);
  }

  /** Records what the server computes, at most 60 s: JSON for ui.perfetto.dev.
   * `timeout` is of what comes after that time. */
  async profile(seconds = 5, options: CallOptions = {}): Promise<Buffer> {
    const {timeout = this.#timeout} = options;
    const nanos = Math.round(seconds * 1e9);
    const pieces = await this.#unary<ProfileChunk[]>('Profile', {
      duration: {seconds: Math.trunc(nanos / 1e9), nanos: nanos % 1e9},
    }, {...options, timeout: timeout === null ? null : timeout + seconds}, admin);
    return Buffer.concat(pieces.map(({trace}) => trace as Buffer));
  }

  async #unary<Answer>(name: string, fields: object, options: CallOptions,
                       service = attend): Promise<Answer> {
    const call = this.#call(name, fields, options, service);
    return await unary(this.#servers, call) as Answer;
  }

  async *#stream<Chunk>(name: string, fields: object, options: CallOptions,
                        read: (chunk: Chunk) => string): AsyncGenerator<string> {
    const call = this.#call(name, fields, options);
    const {model} = call.request as {model?: string};
    const {metadata, traceparent, signal} = options;
    yield* streamed(this.#servers, {...call, model: () => this.model(model, {
      metadata, traceparent, signal,
      timeout: call.end === undefined ? null :
          Math.max(0, (call.end - Date.now()) / 1000),
    })}, (chunk) => read(chunk as Chunk));
  }

  get #timeout(): number | null {
    const {timeout = 60} = this.#settings;
    return timeout;
  }

  #call(name: string, fields: object, options: CallOptions,
        service = attend): Call {
    const method = service[name] as unknown as Method;
    const request = requestOf(name, service[name], options);
    if (fieldsOf(service[name].requestType).has('model')) {
      request.model ??= this.#settings.model;
    }
    const {affinity = 0, hedging} = this.#settings;
    const {timeout = this.#timeout} = options;
    const trace = options.traceparent === undefined ?
        currentTrace() : {traceparent: options.traceparent};
    const metadata = new Metadata();
    for (const [key, value] of Object.entries(
        {...this.#metadata, ...options.metadata, ...trace})) {
      metadata.set(key, value);
    }
    return {
      method, request: {...request, ...fields}, metadata,
      end: timeout === null ? undefined : Date.now() + 1000 * timeout,
      signal: options.signal,
      // A server may wait for its first model.
      anyHealth: service === admin,
      // What changes the server is not asked for twice.
      hedging: service === attend ? hedging : undefined,
      key: affinity > 0 ? affinityKey({...request, ...fields}, affinity) :
                          undefined,
      budget: this.#budget,
      retry: {maxAttempts: 4, initialBackoff: 0.1, maxBackoff: 2, resume: true,
              ...this.#settings.retry},
    };
  }
}
