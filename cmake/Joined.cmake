# Six files are compiled as one: most of the time goes into templates that all of them take.

option(RICCI_JOINED "Compile library and benchmarks six files at a time: OFF compiles more slowly from nothing, faster what changed" ON)

# RESULT: the files to compile in place of SOURCES, which are compiled with the same options: PATH_0.cpp, PATH_1.cpp, …,
# and those of SOURCES that are told something by themselves (COMPILE_DEFINITIONS) or are to stay alone
# (SKIP_UNITY_BUILD_INCLUSION); both are set before. `text_of(some text)` sets `text` to what stands in a joined file in
# place of `some`.
function(ricci_join path sources text_of result)
  set(alone)
  foreach(source IN LISTS sources)
    get_source_file_property(definitions ${source} COMPILE_DEFINITIONS)
    get_source_file_property(stays_alone ${source} SKIP_UNITY_BUILD_INCLUSION)
    if(definitions OR stays_alone)
      list(APPEND alone ${source})
    endif()
  endforeach()
  list(REMOVE_ITEM sources ${alone} "")  # an item, as REMOVE_ITEM wants one
  set(joined)
  while(sources)
    list(LENGTH joined count)
    list(SUBLIST sources 0 6 some)
    list(REMOVE_ITEM sources ${some})
    cmake_language(CALL ${text_of} "${some}" text)
    file(CONFIGURE OUTPUT ${path}_${count}.cpp CONTENT "${text}")
    list(APPEND joined ${path}_${count}.cpp)
  endwhile()
  set(${result} ${joined} ${alone} PARENT_SCOPE)
endfunction()

# The same of files of one folder of src/ or of bench/, if RICCI_JOINED. So a name in the folder's unnamed namespaces is
# one file's alone.
function(ricci_join_sources name sources result)
  if(RICCI_JOINED)
    ricci_join(${PROJECT_BINARY_DIR}/joined/${name} "${sources}" includes_of_sources sources)
  endif()
  set(${result} ${sources} PARENT_SCOPE)
endfunction()

function(includes_of_sources some result)
  set(text)
  foreach(source IN LISTS some)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/src)
    string(APPEND text "#include \"${source}\"\n")
  endforeach()
  set(${result} ${text} PARENT_SCOPE)
endfunction()
