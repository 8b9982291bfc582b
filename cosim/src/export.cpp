#include "santa/cosim/export.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "santa/error.hpp"

namespace santa::cosim {
namespace {

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.flush();
  if (!file) {
    throw input_error("--export", path.string(), std::strerror(errno), "a folder to write to");
  }
}

std::string hex_of(const std::vector<std::uint8_t>& bytes, std::uint64_t address) {
  constexpr std::size_t kBytesALine = 16;
  std::string text = fmt::format("@{:x}\n", address);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    text += fmt::format("{:02x}{}", bytes[i], (i + 1) % kBytesALine == 0 ? '\n' : ' ');
  }
  return text + "\n";
}

std::string memory_text(const ScoreboardRequest& request) {
  std::string text;
  for (const RequestImage::Block& block : request.image.blocks) {
    text += fmt::format("// {}\n", name_of(block.region.kind));
    text += hex_of(block.bytes, block.region.begin);
  }
  return text;
}

std::string output_text(const ScoreboardRequest& request) {
  const RequestImage::Block* block = request.image.find(RegionKind::kOutput);
  std::vector<std::uint8_t> bytes = block->bytes;
  const std::size_t d = request.request.head_dimension();
  const std::size_t row_bytes = bytes.size() / request.request.group();
  for (std::size_t i = 0; i < request.expected.result.output.size(); ++i) {
    const auto value = static_cast<std::uint16_t>(request.expected.result.output[i]);
    const std::size_t at = i / d * row_bytes + i % d * 2;
    bytes[at] = static_cast<std::uint8_t>(value);
    bytes[at + 1] = static_cast<std::uint8_t>(value >> 8);
  }
  return hex_of(bytes, block->region.begin);
}

std::string request_text(const ScoreboardRequest& request) {
  const CosimRequest& r = request.request;
  std::string text = fmt::format(
      "workload {}\ncontext {}\nhead_dimension {}\ngroup {}\nscores {}\nsamples {}\ntag {}\n",
      r.workload, r.context, r.head_dimension(), r.group(),
      attention::to_string(r.request.query.scheme), r.options.samples, request.image.tag);
  for (const RequestImage::Block& block : request.image.blocks) {
    text += fmt::format("{} 0x{:x} {}\n", name_of(block.region.kind), block.region.begin,
                        block.bytes.size());
  }
  return text;
}

// One line a feature, key, tile or row; one column a head.
struct Borders {
  std::string coefficients = "# feature, then a head a column\n";
  std::string scores = "# key, then a head a column: accumulators\n";
  std::string weights = "# key, then a head a column: 0.16\n";
  std::string tiles = "# tile, then exponent and sum a head\n";
  std::string draws = "# head, exponent M, mass Z, offset U\n";
  std::string rows = "# key, then a head a column: counts\n";
};

Borders border_texts(const ScoreboardRequest& request) {
  const CosimRequest& r = request.request;
  const Expectation& expected = request.expected;
  const std::uint32_t group = r.group();
  Borders b;
  const auto line = [&](std::string& text, std::uint64_t index, const auto& column) {
    text += std::to_string(index);
    for (std::uint32_t g = 0; g < group; ++g) text += fmt::format(" {}", column(g));
    text += '\n';
  };
  for (std::uint32_t i = 0; i < r.head_dimension(); ++i) {
    line(b.coefficients, i, [&](std::uint32_t g) {
      return expected.result.query.coefficients[std::size_t{g} * r.head_dimension() + i];
    });
  }
  for (std::uint32_t n = 0; n < r.context; ++n) {
    const std::uint32_t tile = n / r.cache->tile_keys;
    const std::uint32_t key = n % r.cache->tile_keys;
    line(b.scores, n,
         [&](std::uint32_t g) { return expected.accumulators[expected.index(r, tile, g) + key]; });
    line(b.weights, n,
         [&](std::uint32_t g) { return expected.weights[expected.index(r, tile, g) + key]; });
  }
  for (std::uint32_t t = 0; t < r.tiles(); ++t) {
    line(b.tiles, t, [&](std::uint32_t g) {
      const auto& tile = expected.result.tiles[std::size_t{t} * group + g];
      return fmt::format("{} {}", tile.exponent, tile.sum);
    });
  }
  for (std::size_t g = 0; g < expected.offsets.size(); ++g) {
    const attention::HeadStatistics& head = expected.result.heads[g];
    b.draws += fmt::format("{} {} {} {}\n", g, head.exponent, head.mass, expected.offsets[g]);
  }
  for (const attention::SampledRow& row : expected.result.rows) {
    line(b.rows, row.key, [&](std::uint32_t g) { return row.counts[g]; });
  }
  return b;
}

}  // namespace

void export_request(const ScoreboardRequest& request, const std::string& folder,
                    const std::string& name) {
  const std::filesystem::path place = std::filesystem::path(folder) / name;
  std::error_code error;
  std::filesystem::create_directories(place, error);
  if (error) {
    throw input_error("--export", place.string(), error.message(), "a folder to write to");
  }
  write_file(place / "request.txt", request_text(request));
  write_file(place / "memory.hex", memory_text(request));
  write_file(place / "output.hex", output_text(request));
  const Borders borders = border_texts(request);
  write_file(place / "coefficients.txt", borders.coefficients);
  write_file(place / "scores.txt", borders.scores);
  write_file(place / "weights.txt", borders.weights);
  write_file(place / "tiles.txt", borders.tiles);
  write_file(place / "draws.txt", borders.draws);
  write_file(place / "rows.txt", borders.rows);
}

}  // namespace santa::cosim
