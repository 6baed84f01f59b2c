// For std::visit with one lambda a type and no catch-all: the compiler lists what is missing.
#pragma once
namespace stepscope {

template <class... Arms>
struct Visitor : Arms... {
    using Arms::operator()...;
};
template <class... Arms>
Visitor(Arms...) -> Visitor<Arms...>;

}  // namespace stepscope
