// Inputs made from a seed: of a model's shape, or of any shape.
#pragma once

#include "input.hpp"

namespace santa::cli {

// Gaussian data in the shape of a model. Throws InputError for an unknown model, a context beyond
// the model's, or more layers than it has.
Input open_model_shape(const InputOptions& options);

// Gaussian data or a needle in the shape of the options.
Input open_synthetic(const InputOptions& options);

}  // namespace santa::cli
