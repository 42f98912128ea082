#include "server/documents/place_tags.h"

#include <algorithm>
#include <utility>

namespace attend {
namespace {

using Element = PlacedElement;
using Elements = std::vector<std::unique_ptr<Element>>;

// The elements of a sentence as a tree; its root has no tags. Null: too deep.
std::unique_ptr<Element> TreeOf(const Sentence& sentence) {
  auto root = std::make_unique<Element>();
  root->source = {0, static_cast<int>(sentence.text.size())};
  std::vector<Element*> open = {root.get()};
  const auto add = [&](int tag) {
    auto element = std::make_unique<Element>();
    element->open = tag;
    const int position = sentence.tags[tag].position;
    element->source = {position, position};
    open.back()->inner.push_back(std::move(element));
    return open.back()->inner.back().get();
  };
  for (int i = 0; i < static_cast<int>(sentence.tags.size()); ++i) {
    const SentenceTag& tag = sentence.tags[i];
    const bool begins =
        tag.kind == SentenceTag::kOpen || tag.kind == SentenceTag::kOpenOnly;
    if (begins) {
      open.push_back(add(i));
      open.back()->source.end = root->source.end;
      if (open.size() > kDeepestTag) return nullptr;
    } else if (tag.kind == SentenceTag::kClose && open.back() != root.get() &&
               open.back()->open == tag.partner) {
      open.back()->close = i;
      open.back()->source.end = tag.position;
      open.pop_back();
    } else if (tag.kind == SentenceTag::kCloseOnly && open.size() == 1) {
      // It is around all that came before.
      auto element = std::make_unique<Element>();
      element->close = i;
      element->source = {0, tag.position};
      element->inner = std::move(root->inner);
      root->inner.clear();
      root->inner.push_back(std::move(element));
    } else {
      add(i);
    }
  }
  return root;
}

int DepthOf(const Element& element) {
  int depth = 0;
  for (const auto& inner : element.inner) {
    depth = std::max(depth, DepthOf(*inner));
  }
  return depth + 1;
}

// Places the elements inside of one that is placed.
class Placing {
 public:
  Placing(const Sentence& sentence, const TargetUnits& units, Element& outer)
      : sentence_(sentence),
        units_(units),
        outer_(outer),
        is_taken_(outer.units.size()) {}

  void Run() {
    Elements& inner = outer_.inner;
    for (const auto& element : inner) {
      if (HasWords(*element)) PlaceAround(*element);
    }
    // What is between units may not be inside of what is around some.
    for (const auto& element : inner) {
      if (!HasWords(*element) || element->units.size() == 0) {
        PlaceBetween(*element);
      }
    }
    std::stable_sort(inner.begin(), inner.end(),
                     [](const auto& a, const auto& b) {
                       return std::pair(a->units.begin, a->units.end) <
                              std::pair(b->units.begin, b->units.end);
                     });
  }

 private:
  bool IsOpenOnly(const Element& e) const {
    return e.open >= 0 && sentence_.tags[e.open].kind == SentenceTag::kOpenOnly;
  }
  bool HasWords(const Element& e) const {
    return Trim(sentence_.text, e.source).size() > 0;
  }
  // Whether the element has all words of the outer one.
  bool IsWhole(const Element& e) const {
    const TextRange mine = Trim(sentence_.text, e.source);
    const TextRange all = Trim(sentence_.text, outer_.source);
    return mine.begin == all.begin && mine.end == all.end;
  }

  void PlaceAround(Element& e) {
    const TextRange among = outer_.units;
    if (IsWhole(e)) {
      e.units = Take(among);
      return;
    }
    TextRange best = {among.begin, among.begin};
    float most = 0;
    for (int begin = among.begin; begin < among.end; ++begin) {
      int end = begin;
      while (end < among.end && !is_taken_[end - among.begin]) ++end;
      if (end == begin) continue;
      const TextRange run = RunIn(e, {begin, end});
      float sum = 0;
      for (int i = run.begin; i < run.end; ++i) {
        sum += units_.Made(i, e.source);
      }
      if (run.size() > 0 && sum > most) {
        most = sum;
        best = run;
      }
      begin = end;
    }
    e.units = Take(best);
  }

  // The best run of free units for the element. One that began earlier has to
  // begin where the sentence does, one that ends later has to end there.
  TextRange RunIn(const Element& e, TextRange free) const {
    TextRange run = units_.BestRun(e.source, free);
    if (e.open < 0) {
      return free.begin == outer_.units.begin ? TextRange{free.begin, run.end}
                                              : TextRange{};
    }
    if (IsOpenOnly(e)) {
      return free.end == outer_.units.end ? TextRange{run.begin, free.end}
                                          : TextRange{};
    }
    return run;
  }

  TextRange Take(TextRange range) {
    if (range.size() == 0) return range;
    taken_.push_back(range);
    const auto first = is_taken_.begin() + (range.begin - outer_.units.begin);
    std::fill(first, first + range.size(), true);
    return range;
  }

  void PlaceBetween(Element& e) {
    const TextRange all = outer_.units;
    int place = units_.BestPlace(e.source.begin, all);
    if (e.open < 0) place = all.begin;
    if (IsOpenOnly(e)) place = all.end;
    // Behind an element, if the place is in the middle of it.
    for (const TextRange range : taken_) {
      if (range.begin < place && place < range.end) place = range.end;
    }
    e.units = {place, place};
  }

  const Sentence& sentence_;
  const TargetUnits& units_;
  Element& outer_;
  // The units of elements inside, and for each unit of the outer element
  // whether it is one of these.
  std::vector<TextRange> taken_;
  std::vector<bool> is_taken_;
};

void PlaceInner(const Sentence& sentence, const TargetUnits& units,
                Element& outer) {
  Placing(sentence, units, outer).Run();
  for (const auto& element : outer.inner) {
    PlaceInner(sentence, units, *element);
  }
}

}  // namespace

std::unique_ptr<PlacedElement> PlaceTags(const Sentence& sentence,
                                         const TargetUnits& units) {
  if (sentence.tags.size() > kMostTags) return nullptr;
  std::unique_ptr<Element> root = TreeOf(sentence);
  if (root == nullptr || DepthOf(*root) > 2 * kDeepestTag) return nullptr;
  root->units = {0, units.size()};
  PlaceInner(sentence, units, *root);
  return root;
}

}  // namespace attend
