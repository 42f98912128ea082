import {isIP} from 'node:net';

import {Client as Channel, Metadata} from '@grpc/grpc-js';

import {streamed, unary} from './call.js';
import type {Call} from './call.js';
import {errorOfInput, readAll} from './errors.js';
import type {WithStatus} from './errors.js';
import type {AnswerResult} from './generated/attend/v1/AnswerResult.js';
import type {ClassifyResult} from './generated/attend/v1/ClassifyResult.js';
import type {Detokenization} from './generated/attend/v1/Detokenization.js';
import type {EmbedResult} from './generated/attend/v1/EmbedResult.js';
import type {FillMaskResult} from './generated/attend/v1/FillMaskResult.js';
import type {GenerateChunk} from './generated/attend/v1/GenerateChunk.js';
import type {GenerateResult} from './generated/attend/v1/GenerateResult.js';
import type {Model} from './generated/attend/v1/Model.js';
import type {QuestionFields} from './generated/attend/v1/Question.js';
import type {RerankResult} from './generated/attend/v1/RerankResult.js';
import type {ScoreResult} from './generated/attend/v1/ScoreResult.js';
import type {Tokenization} from './generated/attend/v1/Tokenization.js';
import type {TranslateChunk} from './generated/attend/v1/TranslateChunk.js';
import type {Translation} from './generated/attend/v1/Translation.js';
import {inputOf, listOf} from './inputs.js';
import type {Input, Inputs} from './inputs.js';
import {requestOf, withTerms} from './options.js';
import type {
  AnswerOptions, CallOptions, ClassifyOptions, DetokenizeOptions, EmbedOptions,
  FillMaskOptions, GenerateOptions, RerankOptions, ScoreOptions, TokenizeOptions,
  TranslateOptions} from './options.js';
import {admin, attend, fieldsOf} from './protos.js';
import {SERVERS} from './servers.js';
import {addressesOf, authorizationOf, checkNames, securityOf, serviceConfigOf}
    from './settings.js';
import type {ClientOptions} from './settings.js';
import {currentTrace} from './trace.js';
import {rowsOf} from './vectors.js';

const OPTIONS = ['model', 'token', 'tls', 'timeout', 'retry', 'healthChecks', 'metadata',
                 'channelOptions'];

/** Calls one or several servers of the same models. It connects when it is first
 * used; then close() lets the process end.
 *
 * Results are the messages of the API, in the order of the inputs. The methods
 * throw AttendError. */
export class Client {
  readonly #model?: string;
  readonly #timeout: number | null;
  readonly #metadata: Record<string, string>;
  readonly #channel: Channel;
  /** A server that does not serve may wait for its first model. */
  readonly #anyHealth: Channel;

  /** `target` is HOST:PORT, or several in a list or with commas between; a name
   * may stand for several servers. Default: ATTEND_ADDRESS, else
   * localhost:50051. Of tls and token that are not given the variables ATTEND_TLS,
   * ATTEND_CA, ATTEND_CERT, ATTEND_KEY, ATTEND_SERVER_NAME and ATTEND_TOKEN are
   * read. */
  constructor(target?: string | string[], options: ClientOptions = {}) {
    checkNames('Client', options, OPTIONS);
    this.#model = options.model;
    this.#timeout = options.timeout === undefined ? 60 : options.timeout;
    this.#metadata = {...authorizationOf(options.token), ...options.metadata};
    const addresses = addressesOf(target);
    const {transport, serverName} = securityOf(options.tls);
    const [{host, port}] = addresses;
    const name = serverName ?? (isIP(host) ? undefined : host);
    const channelOptions = {
      'grpc.default_authority': isIP(host) === 6 ? `[${host}]:${port}` :
                                                   `${host}:${port}`,
      ...(name && {'grpc.ssl_target_name_override': name}),
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 5000,
      'grpc.max_receive_message_length': -1,
      'grpc.use_local_subchannel_pool': 1,
      // A server that does not answer a ping is given up: its calls fail as
      // UNAVAILABLE. A server takes a ping in 10 s (--min-ping-interval).
      'grpc.keepalive_time_ms': 12000,
      'grpc.keepalive_timeout_ms': 5000,
      ...options.channelOptions,
    };
    const open = (address: string) => new Channel(address, transport, channelOptions);
    const balanced = (check: boolean) => new Channel(`attend:${host}`, transport, {
      'grpc.service_config': serviceConfigOf(options.retry),
      'grpc-node.retry_max_attempts_limit': options.retry?.maxAttempts ?? 4,
      // A request of any size is kept for its next attempt.
      'grpc.per_rpc_retry_buffer_size': Infinity,
      'grpc.retry_buffer_size': Infinity,
      ...channelOptions,
      [SERVERS]: {addresses, open: check ? open : undefined},
    });
    this.#channel = balanced(options.healthChecks ?? true);
    this.#anyHealth = balanced(false);
  }

  /** Ends the connections. */
  close(): void {
    this.#channel.close();
    this.#anyHealth.close();
  }

  /** Continues texts, answers chats, or translates sentences. */
  generate(inputs: Inputs, options: GenerateOptions = {}): Promise<GenerateResult[]> {
    return this.#results('Generate', {inputs: listOf(inputs).map(inputOf)}, options);
  }

  /** Yields the text that generate() returns in parts, as they are computed.
   * Leaving the loop cancels the call. */
  async *stream(input: Input, options: GenerateOptions = {}): AsyncGenerator<string> {
    const call = this.#call('GenerateStream', {inputs: [inputOf(input)]}, options);
    for await (const chunk of streamed(call) as AsyncGenerator<GenerateChunk>) {
      const error = errorOfInput(chunk, chunk.input);
      if (error) throw error;
      if (chunk.choice === 0 && chunk.text) yield chunk.text;
    }
  }

  /** Translates documents of any number of sentences: text, HTML, XML, Markdown. */
  translate(documents: string | string[], options: TranslateOptions = {}):
      Promise<Translation[]> {
    return this.#results('Translate', {documents: listOf(documents)}, withTerms(options));
  }

  /** Yields the translation of a document, sentence by sentence. */
  async *translateStream(document: string, options: TranslateOptions = {}):
      AsyncGenerator<string> {
    const call = this.#call('TranslateStream', {documents: [document]}, withTerms(options));
    for await (const chunk of streamed(call) as AsyncGenerator<TranslateChunk>) {
      const error = errorOfInput(chunk, chunk.document);
      if (error) throw error;
      if (chunk.text) yield chunk.text;
    }
  }

  /** The log-probability of the second of each pair after the first. */
  score(pairs: Array<[Input, Input]>, options: ScoreOptions = {}): Promise<ScoreResult[]> {
    return this.#results('Score', {
      pairs: pairs.map(([source, target]) =>
        ({source: inputOf(source), target: inputOf(target)})),
    }, options);
  }

  /** A vector of each input. */
  embed(inputs: Inputs, options: EmbedOptions = {}): Promise<Float32Array[]> {
    return this.#embed(inputs, false, options, (result) => rowsOf(result)[0]);
  }

  /** The vectors of each input's tokens. */
  embedTokens(inputs: Inputs, options: EmbedOptions = {}): Promise<Float32Array[][]> {
    return this.#embed(inputs, true, options, rowsOf);
  }

  async #embed<Rows>(inputs: Inputs, perToken: boolean, options: EmbedOptions,
                     read: (result: EmbedResult) => Rows): Promise<Rows[]> {
    const {results} = await this.#unary<{results: EmbedResult[]}>('Embed', {
      inputs: listOf(inputs).map(inputOf), perToken, encoding: 'EMBEDDING_FLOAT32',
    }, options);
    return readAll(results, read);
  }

  /** Labels texts, pairs of texts, or the tokens of texts. */
  classify(inputs: Inputs, options: ClassifyOptions = {}): Promise<ClassifyResult[]> {
    return this.#results('Classify', {inputs: listOf(inputs).map(inputOf)}, options);
  }

  /** Finds tokens for the masks in texts. */
  fillMask(inputs: Inputs, options: FillMaskOptions = {}): Promise<FillMaskResult[]> {
    return this.#results('FillMask', {inputs: listOf(inputs).map(inputOf)}, options);
  }

  /** The answers to questions in texts, best first. */
  answer(questions: QuestionFields[], options: AnswerOptions = {}): Promise<AnswerResult[]> {
    return this.#results('Answer', {questions}, options);
  }

  /** Indices and scores of documents, those first that answer the query best. */
  async rerank(query: string, documents: string[], options: RerankOptions = {}):
      Promise<RerankResult[]> {
    const {results} = await this.#unary<{results: RerankResult[]}>(
        'Rerank', {query, documents}, options);
    return readAll(results, (result) => result, ({index}) => index);
  }

  /** The token ids of texts, then of the option `chats`. */
  tokenize(texts: string | string[], options: TokenizeOptions = {}): Promise<Tokenization[]> {
    return this.#results('Tokenize', {texts: listOf(texts)}, options);
  }

  /** The texts of lists of token ids. */
  async detokenize(sequences: number[][], options: DetokenizeOptions = {}): Promise<string[]> {
    const results = await this.#results<Detokenization>(
        'Detokenize', {sequences: sequences.map((ids) => ({ids}))}, options);
    return results.map(({text}) => text);
  }

  /** The models of the server, the default model first. */
  async models(options: CallOptions = {}): Promise<Model[]> {
    return (await this.#unary<{models: Model[]}>('ListModels', {}, options)).models;
  }

  /** A model of the server; without a name its default model. */
  model(name = '', options: CallOptions = {}): Promise<Model> {
    return this.#unary('GetModel', {name}, options);
  }

  /** Loads or reloads a model; `version` 0 is the highest. Needs a server with
   * --model-control=explicit, and time: see `timeout`. */
  async loadModel(name: string, version = 0, options: CallOptions = {}): Promise<Model> {
    const {model} = await this.#unary<{model: Model}>(
        'LoadModel', {name, version}, options, admin);
    return model;
  }

  /** Takes a model out of service. Running calls continue. */
  async unloadModel(name: string, options: CallOptions = {}): Promise<void> {
    await this.#unary('UnloadModel', {name}, options, admin);
  }

  /** Makes a name an alias of models, {model: weight}; no targets: removes it. */
  async setAlias(name: string, targets: Record<string, number>,
                 options: CallOptions = {}): Promise<void> {
    await this.#unary('SetAlias', {
      name, targets: Object.entries(targets).map(([model, weight]) => ({model, weight})),
    }, options, admin);
  }

  /** Records what the server computes, at most 60 s: JSON for ui.perfetto.dev.
   * `timeout` begins after that time. */
  async profile(seconds = 5, options: CallOptions = {}): Promise<Buffer> {
    const {timeout = this.#timeout} = options;
    const nanos = Math.round(seconds * 1e9);
    const call = this.#call('Profile', {
      duration: {seconds: Math.trunc(nanos / 1e9), nanos: nanos % 1e9},
    }, {...options, timeout: timeout === null ? null : timeout + seconds}, admin);
    const pieces: Buffer[] = [];
    for await (const piece of streamed(call)) pieces.push((piece as {trace: Buffer}).trace);
    return Buffer.concat(pieces);
  }

  async #unary<Answer>(name: string, fields: object, options: CallOptions,
                       service = attend): Promise<Answer> {
    return await unary(this.#call(name, fields, options, service)) as Answer;
  }

  async #results<Result extends WithStatus>(
      name: string, fields: object, options: CallOptions): Promise<Result[]> {
    const {results} = await this.#unary<{results: Result[]}>(name, fields, options);
    return readAll(results, (result) => result);
  }

  #call(name: string, fields: object, options: CallOptions, service = attend): Call {
    const method = service[name] as unknown as Call['method'];
    const request = requestOf(name, service[name], options);
    if (fieldsOf(service[name].requestType).has('model')) {
      request.model ??= this.#model;
    }
    const {timeout = this.#timeout, traceparent, signal} = options;
    const trace = traceparent === undefined ? currentTrace() : {traceparent};
    const metadata = new Metadata();
    for (const [key, value] of Object.entries(
        {...this.#metadata, ...options.metadata, ...trace})) {
      metadata.set(key, value);
    }
    return {
      channel: service === admin ? this.#anyHealth : this.#channel,
      method, request: {...request, ...fields}, metadata, signal,
      deadline: timeout === null ? undefined : Date.now() + 1000 * timeout,
    };
  }
}
