#include "server/app/model_option_list.h"

namespace attend {
namespace {

void AddModels(OptionParser& parser, ModelOptions& o) {
  parser.Add("model", o.models,
             "Directory of a model (config.json, model.safetensors, tokenizer) "
             "or a GGUF file, or NAME=PATH. Requests call the model by NAME, "
             "or by the name of the directory or file. For several models, "
             "repeat the flag, or separate the values by commas in the "
             "variable. The models take turns on the same threads, and each "
             "has its own memory and limits. Default: models/en-de.");
  parser.Add("model-name", o.model_name,
             "Name of the model, if there is one --model without a name.");
  parser.Add(
      "models-dir", o.models_dir,
      "Directory of models, served in addition to those of --model. Each "
      "subdirectory with a config.json or a modules.json is a model of that "
      "name, and so is each GGUF file. A directory NAME with NAME/1, NAME/2 "
      "and so on is the model NAME with versions; the highest is served.");
  parser.Add("default-model", o.default_model,
             "Name of the model for requests that name none. Default: the "
             "first --model, otherwise the first --hub, otherwise the first of "
             "--models-dir by name.");
  parser.Add(
      "alias", o.aliases,
      "NAME=MODEL or NAME=MODEL:WEIGHT: calls of NAME are routed to MODEL. If "
      "NAME is repeated, its calls are split between the models in proportion "
      "to their weights (default: 1). MODEL may be NAME@VERSION, a version of "
      "a model of --models-dir, which is loaded as well.");
  parser.Add(
      "draft", o.drafts,
      "Directory or GGUF file of a small model with the same vocabulary, or "
      "NAME=PATH for the model of that NAME. While few inputs run, it drafts "
      "tokens, which the model verifies in one step (speculative decoding). "
      "Faster if the models often agree; results do not change. Takes memory "
      "for its weights, keys and values.");
}

void AddAdapter(OptionParser& parser, ModelOptions& o) {
  parser.Add("adapter", o.adapters,
             "Directory of a LoRA adapter (adapter_config.json), or NAME=PATH "
             "for the model of that NAME. It is merged into the model's "
             "weights at load time.");
}

void AddHub(OptionParser& parser, ModelOptions& models, HubSettings& o) {
  parser.Add("hub", models.hub,
             "Model of Hugging Face's hub: OWNER/NAME, or "
             "OWNER/NAME/FILE.gguf, optionally with @REVISION (a branch, a tag "
             "or a commit) and with NAME= before it. It is downloaded if the "
             "cache does not have it. Repeat the flag for several models.");
  parser.Add(
      "hub-cache", o.cache,
      "Cache directory of downloaded models, in the layout of huggingface_hub. "
      "Empty: HF_HUB_CACHE, or hub in HF_HOME, or ~/.cache/huggingface/hub.");
  parser.Add("hub-offline", o.offline,
             "Serve only cached models, as with HF_HUB_OFFLINE=1.");
}

void AddShortlist(OptionParser& parser, ModelOptions& models,
                  EngineOptions& o) {
  parser.Add("shortlist", models.shortlists,
             "File of a lexical shortlist (vmap.txt of CTranslate2, lex.s2t of "
             "Marian), or NAME=PATH for the model of that name. Results then "
             "contain only tokens that the file lists for their source: "
             "faster, but no longer those of transformers. Takes more memory.");
  parser.Add("shortlist-first", o.shortlist.first,
             "With Marian's files: number of the vocabulary's first tokens "
             "that are allowed for every source. Higher: slower, closer to the "
             "results without a shortlist.");
  parser.Add(
      "shortlist-best", o.shortlist.best,
      "With Marian's files: maximum number of tokens for a source token. "
      "Higher: slower, closer to the results without a shortlist.");
}

}  // namespace

void AddModelOptions(OptionParser& parser, ServerOptions& o) {
  AddModels(parser, o.model_options);
  parser.Add(
      "model-control", o.model_control,
      "Control of the served models at run time. none: no changes. explicit: "
      "calls of attend.v1.Admin, and of Triton's RepositoryModelLoad and "
      "RepositoryModelUnload; with --tenants only those of administrators. "
      "poll: the server scans --models-dir for other versions and models. A "
      "model that is reloaded temporarily needs its memory twice.");
  parser.Add(
      "model-poll-interval", o.model_poll_interval,
      "With --model-control=poll: time between two scans. A change is applied "
      "when two scans have found the same files. Lower: sooner.");
  parser.Add("idle-unload", o.idle_unload,
             "With --model-control=explicit: unload idle models, least "
             "recently called first, to make room for a model that does not "
             "fit. false: refuse the model.");
  AddHub(parser, o.model_options, o.hub);
  AddShortlist(parser, o.model_options, o.engine);
  AddAdapter(parser, o.model_options);
}

}  // namespace attend
