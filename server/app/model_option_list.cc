#include "server/app/model_option_list.h"

namespace attend {
namespace {

void AddModels(OptionParser& parser, ModelOptions& o) {
  parser.Add(
      "model", o.models,
      "Directory of a model (config.json, model.safetensors, tokenizer) or "
      "a GGUF file, or NAME=PATH. Requests call the model by NAME, or by the "
      "name of the directory or file. For several models: repeat the flag, or "
      "separate "
      "the values by commas in the variable. The models take turns on the "
      "same threads, and each has memory and limits of its own. Default: "
      "models/en-de.");
  parser.Add("model-name", o.model_name,
             "Name of the model, if there is one --model without a name.");
  parser.Add(
      "models-dir", o.models_dir,
      "Directory of models, served in addition to those of --model. Each "
      "directory in it that has a config.json or a modules.json is a model, "
      "with the name of that directory, and so is each GGUF file. A directory "
      "NAME with "
      "NAME/1, NAME/2 and so on is the model NAME in versions; the highest is "
      "served.");
  parser.Add(
      "default-model", o.default_model,
      "Name of the model for requests that name none. Default: the first "
      "--model, else the first --hub, else the first of --models-dir by name.");
  parser.Add(
      "alias", o.aliases,
      "NAME=MODEL or NAME=MODEL:WEIGHT: calls of NAME go to MODEL. Repeated "
      "with one NAME, each call goes to one of the models, which get as many "
      "as "
      "their weights say (default: 1). MODEL may be NAME@VERSION, a version of "
      "a model of --models-dir, which is loaded as well.");
  parser.Add(
      "draft", o.drafts,
      "Directory or GGUF file of a small model with the same tokens, or "
      "NAME=PATH for the model of that NAME. While few inputs run, it drafts "
      "tokens, which the model computes together with the token before them. "
      "Faster where it often agrees; results do not change. Takes memory for "
      "its weights, keys and values.");
}

void AddAdapter(OptionParser& parser, ModelOptions& o) {
  parser.Add(
      "adapter", o.adapters,
      "Directory of a LoRA adapter (adapter_config.json), or NAME=PATH "
      "for the model of that NAME. It is merged into the model's weights "
      "when they are loaded.");
}

void AddHub(OptionParser& parser, ModelOptions& models, HubSettings& o) {
  parser.Add(
      "hub", models.hub,
      "Model of Hugging Face's hub: OWNER/NAME, or OWNER/NAME/FILE.gguf, with "
      "@REVISION (a branch, a tag or a commit) or without, and NAME= before "
      "it or without. It is fetched if the cache does not have it. Repeat the "
      "flag for several.");
  parser.Add(
      "hub-cache", o.cache,
      "Directory of models that were fetched, as huggingface_hub has it. "
      "Empty: HF_HUB_CACHE, or hub in HF_HOME, or ~/.cache/huggingface/hub.");
  parser.Add("hub-offline", o.offline,
             "Serve only what the cache has, as with HF_HUB_OFFLINE=1.");
}

void AddShortlist(OptionParser& parser, ModelOptions& models,
                  EngineOptions& o) {
  parser.Add("shortlist", models.shortlists,
             "File of a lexical shortlist (vmap.txt of CTranslate2, lex.s2t of "
             "Marian), or NAME=PATH of the model of that name. Results then "
             "have only tokens that the file has for their source: faster, but "
             "no longer those of transformers. Takes more memory.");
  parser.Add(
      "shortlist-first", o.shortlist.first,
      "Of Marian's files: so many tokens, the vocabulary's first, are for "
      "every source. Higher: slower, closer to what no shortlist gives.");
  parser.Add(
      "shortlist-best", o.shortlist.best,
      "Of Marian's files: the most tokens for a source token. As above.");
}

}  // namespace

void AddModelOptions(OptionParser& parser, ServerOptions& o) {
  AddModels(parser, o.model_options);
  parser.Add(
      "model-control", o.model_control,
      "Who may change what is served while the server runs. none: nobody. "
      "explicit: calls of attend.v1.Admin, and of Triton's RepositoryModelLoad "
      "and RepositoryModelUnload; with --tenants only those of administrators. "
      "poll: whoever writes to --models-dir, in which the server looks for "
      "other versions and models. A model that is loaded anew needs its memory "
      "twice for a while.");
  parser.Add("model-poll-interval", o.model_poll_interval,
             "With --model-control=poll: time between two looks. A change is "
             "made when two looks have found the same. Lower: sooner.");
  parser.Add(
      "idle-unload", o.idle_unload,
      "With --model-control=explicit: a model for which the memory does not "
      "suffice takes the place of those without calls, first of the one that "
      "was called longest ago, which are unloaded. Else it is refused.");
  AddHub(parser, o.model_options, o.hub);
  AddShortlist(parser, o.model_options, o.engine);
  AddAdapter(parser, o.model_options);
}

}  // namespace attend
